/** Timeout of a link that the node makes, in milliseconds: longer than it asks its controller. */
const requestMs = 7_000

/** Link that the node makes for a host whose own link is not to be shared. */
export class RequestedLink {
  #answer: ((url: string | undefined) => void) | undefined

  /**
   * Asks for a link.
   * @param send asks the node; returns false without a connection
   * @returns undefined: none came in time
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

  /** Takes the node's answer. */
  take(url: string): void {
    this.#answer?.(url)
  }
}
