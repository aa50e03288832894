import { createServer, type Server, type Socket } from 'node:net'
import { listenError } from './listen-error.ts'

/** Needs of a loopback server. */
interface LoopbackServerOptions {
  /** In messages. */
  name: string
  /** Maximum number of connections; further ones are closed at once. */
  connections: number
  /** Takes a connection. Its errors are handled, and end it. */
  serve: (socket: Socket) => void
}

/** A TCP port for programs of this machine alone, without HTTP. */
export class LoopbackServer {
  readonly #options: LoopbackServerOptions
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined

  constructor(options: LoopbackServerOptions) {
    this.#options = options
  }

  /** Port that it listens on; 0: none. */
  get port(): number {
    const address = this.#server?.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /**
   * Listens on 127.0.0.1.
   * @param port 0 picks a free one
   * @throws ListenError
   */
  async start(port: number): Promise<void> {
    const { name, connections, serve } = this.#options
    const server = createServer((socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => socket.destroy()).once('close', () => this.#sockets.delete(socket))
      serve(socket)
    })
    server.maxConnections = connections
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(listenError(error, name, '127.0.0.1', port)))
      server.listen(port, '127.0.0.1', resolve)
    })
    server.on('error', () => {})
    this.#server = server
  }

  /** Closes the port and its connections. */
  close(): void {
    this.#server?.close()
    this.#server = undefined
    for (const socket of this.#sockets) socket.destroy()
  }
}
