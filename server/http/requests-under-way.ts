import type { ServerResponse } from 'node:http'
import type { ApiExchange } from './exchange.ts'

/** Requests that have to wait, so that a stop can wait for them. */
export class RequestsUnderWay {
  readonly #exchanges = new Set<ApiExchange>()
  #whenIdle: (() => void) | undefined

  /** Tracks a request until its work is done. @param failed called with the error of the work */
  track(exchange: ApiExchange, work: Promise<void>, failed: (error: unknown) => void): Promise<void> {
    if (this.#exchanges.has(exchange)) return work
    this.#exchanges.add(exchange)
    return work.catch(failed).finally(() => {
      this.#exchanges.delete(exchange)
      if (this.#exchanges.size === 0) this.#whenIdle?.()
    })
  }

  /** Returns the unfinished answer to a complete request on this socket. */
  pendingAnswer(socket: unknown): ServerResponse | undefined {
    for (const { request, response } of this.#exchanges) {
      if (request.socket === socket && request.complete) return response
    }
    return undefined
  }

  /** Resolves when no request is under way. */
  idle(): Promise<void> {
    if (this.#exchanges.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenIdle = resolve
    })
  }
}
