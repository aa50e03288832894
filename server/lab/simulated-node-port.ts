import { connectionLimits } from '../edge/limits.ts'
import { EdgeServer } from '../edge/server.ts'
import type { EdgeLog } from '../edge/guards.ts'
import { unproven } from '../gate/gate.ts'
import type { RequestProof } from '../edge/request-proof.ts'
import type { TlsMaterial } from '../edge/tls.ts'

const notice = JSON.stringify({
  simulated: true,
  message: 'This is the address of a simulated MCU node: it holds people and devices in memory and carries no media.',
})

/**
 * Serves a notice at the address that get_mcu returns for a simulated node, so that clients recognize the simulation.
 */
export class SimulatedNodePort {
  readonly #server: EdgeServer

  /** @param proof see EdgeServerOptions */
  constructor(log: EdgeLog, proof?: RequestProof) {
    this.#server = new EdgeServer({
      name: 'node',
      log,
      proof,
      limits: connectionLimits.notice,
      maxHeaderSize: 16 * 1024,
      request: unproven('no state', (request, response) => {
        request.resume()
        response.writeHead(501, { 'content-type': 'application/json; charset=utf-8', connection: 'close' }).end(notice)
      }),
    })
  }

  get url(): string {
    return this.#server.url
  }

  /** Number of open connections. */
  get connections(): number {
    return this.#server.connections
  }

  /**
   * Opens the port.
   * @param controllersTls see ListenAddress
   * @throws ListenError
   */
  async start(host: string, port: number, controllersTls?: TlsMaterial): Promise<void> {
    await this.#server.start({ host, port, controllersTls })
  }

  async stop(): Promise<void> {
    await this.#server.stop(0)
  }
}
