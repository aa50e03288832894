import { createServer, type Server, type Socket } from 'node:net'
import { listenError } from './listen-error.ts'

interface LoopbackServerOptions {
  /** Name in messages. */
  name: string
  /** Maximum number of connections; further connections are closed at once. */
  connections: number
  /** Handles a connection. Errors of the connection are handled, and close it. */
  serve: (socket: Socket) => void
}

/** A TCP port without HTTP for programs on this machine only. */
export class LoopbackServer {
  readonly #options: LoopbackServerOptions
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined

  constructor(options: LoopbackServerOptions) {
    this.#options = options
  }

  /** Port number; 0: not listening. */
  get port(): number {
    const address = this.#server?.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /**
   * Listens on 127.0.0.1.
   * @param port 0: any free port
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

  close(): void {
    this.#server?.close()
    this.#server = undefined
    for (const socket of this.#sockets) socket.destroy()
  }
}
