/** Milliseconds that the controller is given: longer than it gives its own nodes. */
const patienceMs = 6_000
/** Questions under way. */
const maxQuestions = 1_000

/** Questions to the controller that are under way, each with a number, a deadline and one answer. */
export class Questions<Answer> {
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  #lastId = 0

  /** @param late the answer where there is none in time, and where too many are under way @throws what `put` throws */
  async ask(put: (id: number) => void, late: Answer): Promise<Answer> {
    if (this.#waiting.size >= maxQuestions) return late
    this.#lastId += 1
    const id = this.#lastId
    const answer = Promise.withResolvers<Answer>()
    const timer = setTimeout(() => answer.resolve(late), patienceMs)
    this.#waiting.set(id, answer.resolve)
    try {
      put(id)
      return await answer.promise
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(id)
    }
  }

  answer(id: number, answer: Answer): void {
    this.#waiting.get(id)?.(answer)
  }
}
