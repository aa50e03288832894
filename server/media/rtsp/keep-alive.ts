/** A session that ends within so many times its timeout may have timed out; one that lasts longer was kept alive. */
const timedOutShare = 2.5

/**
 * Method that keeps a session alive: GET_PARAMETER where the answer to OPTIONS names it, else OPTIONS. Some servers do not name GET_PARAMETER, and take nothing else for a keep-alive;
 * others name it and refuse it, or close the connection at a method that they do not know.
 */
export class KeepAlive {
  #isNamed = false
  #isParameter: boolean
  /** When PLAY was sent, in milliseconds of a clock that never goes back. */
  #playedAt = 0
  #wasSent = false

  /** @param tryParameter GET_PARAMETER is taken even if OPTIONS does not name it */
  constructor(tryParameter: boolean) {
    this.#isParameter = tryParameter
  }

  /** Takes the methods that the answer to OPTIONS names. */
  noteMethods(names: readonly string[]): void {
    this.#isNamed = names.includes('GET_PARAMETER')
    this.#isParameter ||= this.#isNamed
  }

  notePlay(): void {
    this.#playedAt = performance.now()
  }

  /** Returns the method of the keep-alive that is sent now. */
  next(): 'GET_PARAMETER' | 'OPTIONS' {
    this.#wasSent = true
    return this.#isParameter ? 'GET_PARAMETER' : 'OPTIONS'
  }

  /** Takes the refusal of a keep-alive. */
  noteRefusal(): void {
    this.#isParameter = false
  }

  /** Whether a session of this timeout that ends now may have timed out in spite of its keep-alives, by a method that was not named. */
  mayHaveFailed(timeoutMs: number): boolean {
    const isEarly = performance.now() - this.#playedAt < timedOutShare * timeoutMs
    return this.#wasSent && !this.#isNamed && isEarly
  }
}
