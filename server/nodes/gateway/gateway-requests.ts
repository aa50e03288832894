import type { ControlMethod, ControlParams } from '../../../shared/media/control.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import type { NodeLogger } from '../port/node-failure.ts'

/** Sends a request to the program that is named after a node. */
export type RequestGateway = <M extends ControlMethod>(
  gateway: string,
  method: M,
  params: ControlParams<M>,
) => Promise<unknown>

/** Requests to the programs of the room page: each program gets them one after the other. */
export class GatewayRequests {
  readonly #request: RequestGateway
  readonly #logger: NodeLogger
  readonly #last = new Map<string, Promise<unknown>>()

  constructor(request: RequestGateway, logger: NodeLogger) {
    this.#request = request
    this.#logger = logger
  }

  /** Sends a request after the ones before it. @throws what the request failed with */
  send<M extends ControlMethod>(gateway: string, method: M, params: ControlParams<M>): Promise<unknown> {
    const sent = (this.#last.get(gateway) ?? Promise.resolve()).then(() => this.#request(gateway, method, params))
    const settled = sent.catch((error: unknown) => {
      this.#logger.debug({ err: error, node: gateway, method }, 'request to the program of the room page failed')
    })
    this.#last.set(gateway, settled)
    const forgotten = settled.then(() => {
      if (this.#last.get(gateway) === settled) this.#last.delete(gateway)
    })
    mustNotFail(forgotten)
    return sent
  }

  /** Sends a request whose result nobody needs; a failure is logged. */
  notify<M extends ControlMethod>(gateway: string, method: M, params: ControlParams<M>): void {
    // A failure was logged.
    this.send(gateway, method, params).catch(() => {})
  }
}
