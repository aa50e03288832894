import { createServer, type Server } from 'node:http'
import { listenError } from '../edge/listen-error.ts'
import { listenerUrl } from '../edge/network-addresses.ts'

const notice = JSON.stringify({
  simulated: true,
  message: 'This is the address of a simulated MCU node: it holds people and devices in memory and carries no media.',
})

/** Holds the address that a simulated node's get_mcu answers, so that a client finds there who it is talking to. */
export class SimulatedNodePort {
  #server: Server | undefined
  #url = ''

  get url(): string {
    return this.#url
  }

  /** @throws ListenError */
  async start(host: string, port: number): Promise<void> {
    const server = createServer((request, response) => {
      request.resume()
      response.writeHead(501, { 'content-type': 'application/json; charset=utf-8', connection: 'close' }).end(notice)
    })
    server.maxConnections = 100
    const bound = await new Promise<number>((resolve, reject) => {
      server.once('error', (error) => reject(listenError(error, 'node', host, port)))
      server.listen({ host, port }, () => {
        const address = server.address()
        resolve(typeof address === 'object' && address !== null ? address.port : port)
      })
    })
    this.#server = server
    this.#url = listenerUrl(host, bound)
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    this.#url = ''
    if (server === undefined) return
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}
