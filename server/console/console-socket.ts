import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import { clientAddress } from '../edge/client-address.ts'
import { type EdgeLog, refuse } from '../edge/guards.ts'
import type { Dispatch } from './dispatch.ts'
import type { EventHub } from './event-hub.ts'

const requestSchema = z.strictObject({
  id: z.int().min(0),
  procedure: z.string().max(80),
  input: z.unknown().optional(),
})

/** The largest message a console may send: a CSV import fits. */
const maxPayload = 8 * 1024 * 1024
const maxSockets = 64
/** A console that does not read this many bytes of events is cut off; it comes back and refreshes. */
const maxBuffered = 16 * 1024 * 1024
const pingInterval = 20_000

/** The WebSocket transport of the console: `{id, procedure, input}` in, `{id, result}` and `{event, payload}` out. */
export class ConsoleSockets {
  readonly #server = new WebSocketServer({ noServer: true, maxPayload })
  readonly #dispatch: Dispatch
  readonly #hub: EventHub
  readonly #log: EdgeLog
  readonly #alive = new WeakSet<WebSocket>()
  /** Runs while there is a console to ask. */
  #pings: NodeJS.Timeout | undefined

  constructor(dispatch: Dispatch, hub: EventHub, log: EdgeLog) {
    this.#log = log
    this.#dispatch = dispatch
    this.#hub = hub
  }

  /** Takes an upgrade that was checked already (session, Host, Origin). */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.#server.clients.size >= maxSockets) {
      refuse(socket, '503 Service Unavailable')
      return
    }
    this.#server.handleUpgrade(request, socket, head, (client) => this.#serve(client, clientAddress(request)))
  }

  /** Ends every console's connection: with `signedOut` they must sign in again. */
  closeAll(signedOut = false): void {
    for (const client of this.#server.clients) client.close(signedOut ? 4401 : 1001)
  }

  /** The connections there are now. */
  connected(): WebSocket[] {
    return [...this.#server.clients]
  }

  #serve(client: WebSocket, address: string): void {
    this.#alive.add(client)
    this.#pings ??= setInterval(() => this.#beat(), pingInterval).unref()
    const stop = this.#hub.listen((event) => {
      if (client.bufferedAmount > maxBuffered) client.terminate()
      else client.send(JSON.stringify({ event: event.name, payload: event.payload }))
    })
    client.on('pong', () => this.#alive.add(client))
    client.on('error', () => client.terminate())
    client.on('close', stop)
    client.on('message', (data: Buffer, binary) => {
      if (binary) return client.close(1003)
      this.#answer(client, data.toString('utf8'), address).catch((error: unknown) => {
        this.#log.error({ err: error, client: address }, 'a call of a console failed: its connection ends')
        client.close(1011)
      })
    })
  }

  async #answer(client: WebSocket, text: string, address: string): Promise<void> {
    let parsed: z.ZodSafeParseResult<z.output<typeof requestSchema>>
    try {
      parsed = requestSchema.safeParse(JSON.parse(text))
    } catch {
      return client.close(1007)
    }
    if (!parsed.success) return client.close(1007)
    const { id, procedure, input } = parsed.data
    const result = await this.#dispatch(procedure, input, { transport: 'websocket', client: address, role: 'admin' })
    if (client.readyState === client.OPEN) client.send(JSON.stringify({ id, result }))
  }

  #beat(): void {
    if (this.#server.clients.size === 0) {
      clearInterval(this.#pings)
      this.#pings = undefined
      return
    }
    for (const client of this.#server.clients) {
      if (!this.#alive.has(client)) {
        client.terminate()
        continue
      }
      this.#alive.delete(client)
      client.ping()
    }
  }
}
