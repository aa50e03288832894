import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import { consoleSubprotocol } from '../../shared/console/session-halves.ts'
import { addressShare } from '../../shared/client-address.ts'
import { clientAddress } from '../edge/client-address.ts'
import { type EdgeLog, refuseSocket } from '../edge/guards.ts'
import type { ConsoleCaller } from './callers.ts'
import type { GatedDispatch } from './dispatch.ts'
import type { EventHub } from './event-hub.ts'
import { eventShownTo } from './caller-permissions.ts'
import { clusterTimes } from '../store/election/timings.ts'

const requestSchema = z.strictObject({
  id: z.int().min(0),
  procedure: z.string().max(80),
  input: z.unknown().optional(),
})

/** Maximum size of a message from a console, in bytes; large enough for a CSV import. */
const maxPayload = 8 * 1024 * 1024
const maxSockets = 256
/**
 * Maximum number of connections per session (its tabs and windows), per account or for all holders of the console key,
 * and per address.
 */
const shares = { session: 16, account: 48, address: 128 } as const
/**
 * Maximum number of buffered bytes per console. A console that exceeds this limit is disconnected; it reconnects and
 * reloads.
 */
const maxBuffered = 16 * 1024 * 1024
/** Close code for a connection whose session has ended. */
const signedOut = 4401
/** Close code for a connection above a limit; the close reason names the limit. */
const tooMany = 4429
/** Time for the closing handshake of a refused connection, in milliseconds. */
const goodbyeMs = 1_000

interface Console {
  client: WebSocket
  address: string
  session: string
  /** Id of the caller's account; empty for the console key. */
  account: string
  /** Returns the caller of the connection; undefined once the session has ended. */
  caller: () => ConsoleCaller | undefined
  /** Number of running calls. */
  calls: number
  /** `listens`: the client receives events but may not call procedures. */
  mode: 'calls' | 'listens'
}

/**
 * The WebSocket transport of the console: receives `{id, procedure, input}`, sends `{id, result}` and `{event,
 * payload}`.
 */
export class ConsoleSockets {
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload,
    // The other offered subprotocol is the page's half of the session secret, which must not be repeated in a response.
    handleProtocols: (offered) => (offered.has(consoleSubprotocol) ? consoleSubprotocol : false),
  })
  readonly #dispatch: GatedDispatch
  readonly #hub: EventHub
  readonly #log: EdgeLog
  readonly #alive = new WeakSet<WebSocket>()
  readonly #consoles = new Set<Console>()
  /** Timer that pings clients while at least one console is connected. */
  #pings: NodeJS.Timeout | undefined

  constructor(dispatch: GatedDispatch, hub: EventHub, log: EdgeLog) {
    this.#log = log
    this.#dispatch = dispatch
    this.#hub = hub
  }

  /**
   * Accepts an upgrade whose session, Host and Origin were checked.
   * @param caller returns the caller; called repeatedly
   * @param session cookie of the session
   * @param mode `listens`: may not call procedures
   */
  accept(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    caller: () => ConsoleCaller | undefined,
    session: string,
    mode: Console['mode'] = 'calls',
  ): void {
    if (this.#consoles.size >= maxSockets) {
      refuseSocket(socket, '503 Service Unavailable')
      return
    }
    const account = caller()?.accountId ?? ''
    const console = { address: clientAddress(request), session, account, mode }
    const full = mode === 'listens' ? undefined : this.#fullShare(console)
    this.#server.handleUpgrade(request, socket, head, (client) => {
      if (full === undefined) return this.#serve({ ...console, client, caller, calls: 0 })
      client.on('error', () => client.terminate())
      client.close(tooMany, `Too many consoles of this ${full} are open: close one.`)
      // A client that does not answer the close frame is disconnected.
      setTimeout(() => client.terminate(), goodbyeMs).unref()
    })
  }

  /** Returns the limit that has been reached, if any. Connections of other controllers do not count. */
  #fullShare(wanted: Pick<Console, 'session' | 'account' | 'address'>): keyof typeof shares | undefined {
    const names = ['session', 'account', 'address'] as const
    const consoles = [...this.#consoles].filter(({ mode }) => mode === 'calls')
    return names.find((name) => {
      const others = consoles.filter((one) => shareOf(one, name) === shareOf(wanted, name))
      return others.length >= shares[name]
    })
  }

  /** Closes the connections whose session has ended. Connections with running calls close after their responses. */
  review(): void {
    for (const console of this.#consoles) this.#reviewOne(console)
  }

  /** Returns the open connections. */
  connected(): WebSocket[] {
    return [...this.#server.clients]
  }

  #serve(console: Console): void {
    const { client, address } = console
    this.#consoles.add(console)
    this.#alive.add(client)
    this.#pings ??= setInterval(() => this.#beat(), clusterTimes.ping).unref()
    const stop = this.#hub.listen((event) => {
      const caller = console.caller()
      if (caller === undefined) return
      if (client.bufferedAmount > maxBuffered) return client.terminate()
      const { name, payload } = eventShownTo(caller.role, event)
      client.send(JSON.stringify({ event: name, payload }))
    })
    client.on('pong', () => this.#alive.add(client))
    client.on('error', () => client.terminate())
    client.on('close', () => {
      this.#consoles.delete(console)
      stop()
    })
    client.on('message', (data: Buffer, binary) => {
      if (binary || console.mode === 'listens') return client.close(1003)
      this.#answer(console, data.toString('utf8')).catch((error: unknown) => {
        this.#log.error({ err: error, client: address }, 'a call of a console failed: its connection ends')
        client.close(1011)
      })
    })
  }

  async #answer(console: Console, text: string): Promise<void> {
    const { client, address } = console
    const caller = console.caller()
    if (caller === undefined) return this.#reviewOne(console)
    let parsed: z.ZodSafeParseResult<z.output<typeof requestSchema>>
    try {
      parsed = requestSchema.safeParse(JSON.parse(text))
    } catch {
      return client.close(1007)
    }
    if (!parsed.success) return client.close(1007)
    const { id, procedure, input } = parsed.data
    console.calls++
    try {
      const result = await this.#dispatch(procedure, input, { transport: 'websocket', client: address, ...caller })
      if (client.readyState === client.OPEN) client.send(JSON.stringify({ id, result }))
    } finally {
      console.calls--
      this.#reviewOne(console)
    }
  }

  #reviewOne(console: Console): void {
    if (console.calls === 0 && console.caller() === undefined) console.client.close(signedOut)
  }

  #beat(): void {
    if (this.#server.clients.size === 0) {
      clearInterval(this.#pings)
      this.#pings = undefined
      return
    }
    // A session may have expired since the last check.
    this.review()
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

/** Returns the key for a limit. A 64-bit IPv6 network counts as one address. */
function shareOf(console: Pick<Console, 'session' | 'account' | 'address'>, name: keyof typeof shares): string {
  return name === 'address' ? addressShare(console.address) : console[name]
}
