import { createServer, type Server, type Socket } from 'node:net'
import { listenError } from './listen-error.ts'

interface StreamPortOptions {
  /** Name in messages. */
  name: string
  /** Maximum number of connections; further connections are closed at once. */
  connections: number
  /** Handles a connection. Errors of the connection are handled, and close it. */
  serve: (socket: Socket) => void
}

/** A TCP port without HTTP: the port of a test camera. Its handler limits what a connection may do. */
export class StreamPort {
  readonly #options: StreamPortOptions
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined

  constructor(options: StreamPortOptions) {
    this.#options = options
  }

  /** Port number; 0: not listening. */
  get port(): number {
    const address = this.#server?.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /**
   * Starts to listen.
   * @param host address of an interface
   * @param port 0: any free port
   * @throws ListenError
   */
  async start(host: string, port: number): Promise<void> {
    const { name, connections, serve } = this.#options
    const server = createServer((socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => socket.destroy()).once('close', () => this.#sockets.delete(socket))
      serve(socket)
    })
    server.maxConnections = connections
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(listenError(error, name, host, port)))
      server.listen(port, host, resolve)
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
