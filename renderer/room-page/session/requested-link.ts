/** Timeout of the node's answer, in milliseconds: longer than the node's timeout for its controller. */
const requestMs = 7_000

/** Join link that the node creates for a host whose own link must not be shared. */
export class RequestedLink {
  #answer: ((url: string | undefined) => void) | undefined

  /**
   * Requests a link.
   * @param send sends the request to the node; returns false without a connection
   * @returns undefined: no answer in time
   */
  async request(send: () => boolean): Promise<string | undefined> {
    this.#answer?.(undefined)
    const answer = Promise.withResolvers<string | undefined>()
    this.#answer = answer.resolve
    const timer = setTimeout(() => answer.resolve(undefined), requestMs)
    if (!send()) answer.resolve(undefined)
    try {
      return await answer.promise
    } finally {
      clearTimeout(timer)
    }
  }

  /** Handles the node's answer. */
  take(url: string): void {
    this.#answer?.(url)
  }
}
