import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestHandler } from './request-handler.ts'

/** Milliseconds that answers which were just written get to leave, after the last operation has ended. */
const flushMs = 250

/** The connections of a server: counted from outside, cut at a stop when nothing is under way on them. */
export class Connections {
  readonly #server: Server
  readonly #handler: RequestHandler
  /** What requests come on: TLS sockets where there is TLS. */
  readonly #sockets = new Set<Socket>()
  /** What the kernel knows: also those whose TLS handshake is not over. */
  readonly #transports = new Set<Socket>()

  constructor(server: Server, handler: RequestHandler) {
    this.#server = server
    this.#handler = handler
    server.on('connection', (socket) => remember(this.#transports, socket))
    server.on('secureConnection', (socket: Socket) => remember(this.#sockets, socket))
  }

  /** Connections now. */
  get count(): number {
    return this.#transports.size
  }

  /** Accepts nothing more, lets what is under way finish for at most `deadlineMs`, then cuts the rest. */
  async close(deadlineMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    const secure = this.#sockets.size > 0
    for (const socket of secure ? this.#sockets : this.#transports) {
      // destroySoon lets an answer that was written leave first.
      if (!this.#handler.busy(socket)) socket.destroySoon()
    }
    await within(deadlineMs, this.#handler.idle())
    await within(flushMs, closed)
    for (const socket of this.#transports) socket.destroy()
    await closed
  }
}

function remember(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
}

/** Resolves when the work is done, or after so many milliseconds. */
async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}
