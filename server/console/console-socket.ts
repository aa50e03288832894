import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import { consoleSubprotocol } from '../../shared/console/session-halves.ts'
import { addressShare } from '../../shared/client-address.ts'
import { clientAddress } from '../edge/client-address.ts'
import { type EdgeLog, refuse } from '../edge/guards.ts'
import type { Caller } from './callers.ts'
import type { GatedDispatch } from './dispatch.ts'
import type { EventHub } from './event-hub.ts'
import { eventShownTo } from './shown-to-role.ts'
import { clusterTimes } from '../store/election/timings.ts'

const requestSchema = z.strictObject({
  id: z.int().min(0),
  procedure: z.string().max(80),
  input: z.unknown().optional(),
})

/** The largest message a console may send: a CSV import fits. */
const maxPayload = 8 * 1024 * 1024
const maxSockets = 256
/** Limits of connections by session (its tabs and windows), by account or holders of the console key, and by address. */
const shares = { session: 16, account: 48, address: 128 } as const
/** A console that does not read this many bytes of events is cut off; it comes back and refreshes. */
const maxBuffered = 16 * 1024 * 1024
/** The code with which a connection is closed whose session has ended. */
const signedOut = 4401
/** Code with which a connection beyond a share is closed; its reason says which one. */
const tooMany = 4429
/** Milliseconds that such a connection has to say goodbye. */
const goodbyeMs = 1_000

/** A console that is connected. */
interface Console {
  client: WebSocket
  address: string
  /** Cookie of its session. */
  session: string
  /** Id of its account; empty for the console key. */
  account: string
  /** Caller of the connection; undefined once the session has ended. */
  caller: () => Caller | undefined
  /** Calls under way. */
  calls: number
  /** `listens`: it is sent events, and asks nothing. */
  mode: 'calls' | 'listens'
}

/** The WebSocket transport of the console: `{id, procedure, input}` in, `{id, result}` and `{event, payload}` out. */
export class ConsoleSockets {
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload,
    // The other one offered is the page's half of the session, which no answer repeats.
    handleProtocols: (offered) => (offered.has(consoleSubprotocol) ? consoleSubprotocol : false),
  })
  readonly #dispatch: GatedDispatch
  readonly #hub: EventHub
  readonly #log: EdgeLog
  readonly #alive = new WeakSet<WebSocket>()
  readonly #consoles = new Set<Console>()
  /** Runs while there is a console to ask. */
  #pings: NodeJS.Timeout | undefined

  constructor(dispatch: GatedDispatch, hub: EventHub, log: EdgeLog) {
    this.#log = log
    this.#dispatch = dispatch
    this.#hub = hub
  }

  /**
   * Takes an upgrade that was checked already (session, Host, Origin).
   * @param caller whose it is, asked again and again
   * @param session its cookie
   * @param mode `listens`: may call nothing
   */
  accept(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    caller: () => Caller | undefined,
    session: string,
    mode: Console['mode'] = 'calls',
  ): void {
    if (this.#consoles.size >= maxSockets) {
      refuse(socket, '503 Service Unavailable')
      return
    }
    const account = caller()?.accountId ?? ''
    const console = { address: clientAddress(request), session, account, mode }
    const full = mode === 'listens' ? undefined : this.#fullShare(console)
    this.#server.handleUpgrade(request, socket, head, (client) => {
      if (full === undefined) return this.#serve({ ...console, client, caller, calls: 0 })
      client.on('error', () => client.terminate())
      client.close(tooMany, `Too many consoles of this ${full} are open: close one.`)
      // A client that does not answer the close is cut off.
      setTimeout(() => client.terminate(), goodbyeMs).unref()
    })
  }

  /** The share that is used up, if any. Other controllers have none. */
  #fullShare(wanted: Pick<Console, 'session' | 'account' | 'address'>): keyof typeof shares | undefined {
    const names = ['session', 'account', 'address'] as const
    const consoles = [...this.#consoles].filter(({ mode }) => mode === 'calls')
    return names.find((name) => {
      const others = consoles.filter((one) => shareOf(one, name) === shareOf(wanted, name))
      return others.length >= shares[name]
    })
  }

  /** Closes the connections whose session has ended: at once, or as soon as they have the answers that they wait for. */
  review(): void {
    for (const console of this.#consoles) this.#reviewOne(console)
  }

  /** The connections there are now. */
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
    // A session ends by its age, too.
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

/** An IPv6 network of 64 bits counts as one address. */
function shareOf(console: Pick<Console, 'session' | 'account' | 'address'>, name: keyof typeof shares): string {
  return name === 'address' ? addressShare(console.address) : console[name]
}
