import type { ControlMethod, ControlParams } from '../../../shared/media/control.ts'
import type { NodeLogger } from '../port/node-failure.ts'

/** Asks the program that is named after a node. */
export type AskGateway = <M extends ControlMethod>(
  gateway: string,
  method: M,
  params: ControlParams<M>,
) => Promise<unknown>

/** What programs are told: each of them in the order in which it was said. */
export class GatewayWords {
  readonly #ask: AskGateway
  readonly #logger: NodeLogger
  readonly #last = new Map<string, Promise<unknown>>()

  constructor(ask: AskGateway, logger: NodeLogger) {
    this.#ask = ask
    this.#logger = logger
  }

  /** @throws what the request failed with */
  say<M extends ControlMethod>(gateway: string, method: M, params: ControlParams<M>): Promise<unknown> {
    const said = (this.#last.get(gateway) ?? Promise.resolve()).then(() => this.#ask(gateway, method, params))
    const settled = said.catch((error: unknown) => {
      this.#logger.debug({ err: error, node: gateway }, 'the program of the room page did not take a word')
    })
    this.#last.set(gateway, settled)
    void settled.then(() => {
      if (this.#last.get(gateway) === settled) this.#last.delete(gateway)
    })
    return said
  }

  /** Nobody waits for it: where it is not taken, that is noted. */
  tell<M extends ControlMethod>(gateway: string, method: M, params: ControlParams<M>): void {
    this.say(gateway, method, params).catch(() => {})
  }
}
