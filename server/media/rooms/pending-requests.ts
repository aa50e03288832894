/** Timeout of a request, in milliseconds: longer than the controller gives its own nodes. */
const timeoutMs = 6_000
const maxPending = 1_000

/** Requests to the controller that wait for their answer, each with a number and a deadline. */
export class PendingRequests<Answer> {
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  #lastId = 0

  /**
   * Sends a request and waits for its answer.
   * @param send sends it under this number
   * @param late the answer after the deadline, and while too many requests wait
   * @throws what `send` throws
   */
  async ask(send: (id: number) => void, late: Answer): Promise<Answer> {
    if (this.#waiting.size >= maxPending) return late
    this.#lastId += 1
    const id = this.#lastId
    const answer = Promise.withResolvers<Answer>()
    const timer = setTimeout(() => answer.resolve(late), timeoutMs)
    this.#waiting.set(id, answer.resolve)
    try {
      send(id)
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
