import type { ServerResponse } from 'node:http'

/** Requests whose answers are pending, so that a stop can wait for them. */
export class RequestsUnderWay {
  readonly #responses = new Set<ServerResponse>()
  #whenIdle: (() => void) | undefined

  /** Tracks the request of an answer until its work is done. @param failed called with the error of the work */
  track(response: ServerResponse, work: Promise<void>, failed: (error: unknown) => void): Promise<void> {
    if (this.#responses.has(response)) return work
    this.#responses.add(response)
    return work.catch(failed).finally(() => {
      this.#responses.delete(response)
      if (this.#responses.size === 0) this.#whenIdle?.()
    })
  }

  /** Returns the unfinished answer to a complete request on this socket. */
  pendingAnswer(socket: unknown): ServerResponse | undefined {
    for (const response of this.#responses) {
      if (response.req.socket === socket && response.req.complete) return response
    }
    return undefined
  }

  /** Resolves when no request is under way. */
  idle(): Promise<void> {
    if (this.#responses.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenIdle = resolve
    })
  }
}
