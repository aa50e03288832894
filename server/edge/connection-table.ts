import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { addressShare, plainAddress } from '../../shared/client-address.ts'
import { type ConnectionLimits, maxUnanswered, slowBodyMs } from './limits.ts'

export interface Connection {
  readonly transport: Socket
  /** Socket on which requests arrive: `transport`, or the TLS socket on top of it after the handshake. */
  socket: Socket
  /** The newest request and its response; undefined: no request yet. */
  request: IncomingMessage | undefined
  response: ServerResponse | undefined
  /** Number of requests that arrived before an earlier request was answered, and whose own responses are unfinished. */
  pipelined: number
  /** Time of the newest request, in milliseconds of performance.now(). */
  since: number
  /** Whether the connection has left HTTP (WebSocket). */
  upgraded: boolean
  /**
   * `taken`: bytes that the client had read at the last check. `unreadSince`: time at which the client stopped reading
   * although data is waiting, in milliseconds of performance.now(); 0: the client reads.
   */
  taken: number
  unreadSince: number
  /** Share of the client address, or of the site if another controller forwards requests over the connection. */
  share: Share
}

/** The connections of one address. */
interface Share {
  readonly address: string
  count: number
  /** Connections without a request yet, oldest first. */
  readonly silent: Set<Connection>
  /** All other connections; busy connections are moved to the end. */
  readonly served: Set<Connection>
}

/** Key of the share of the site's controllers, used instead of an address. */
const ofSite = 'controllers of the site'
/**
 * Maximum number of connections and addresses that are checked to make room, so that the cost of admission is constant.
 */
const looks = 32
const addressLooks = 4

/**
 * The connections of a port, within its limits. If an address is at its limit, its oldest idle connection is closed for
 * the newest. If the port is full, an idle connection of the address with the most connections is closed. The newest
 * connection is refused only if no connection is idle.
 */
export class ConnectionTable {
  readonly #limits: ConnectionLimits
  readonly #unreadMs: number
  /** Whether a connection was refused since the last check of unread data. */
  #crowded = false
  readonly #all = new Set<Connection>()
  readonly #shares = new Map<string, Share>()
  /** Shares by their number of connections, so that a share with the maximum is found at once. */
  readonly #byCount = new Map<number, Set<Share>>()
  #maxCount = 0
  /** Numbers of connections that were closed to make room, and that were refused. */
  readonly counts = { ended: 0, refused: 0 }

  constructor(limits: ConnectionLimits, unreadMs: number) {
    this.#limits = limits
    this.#unreadMs = unreadMs
  }

  get size(): number {
    return this.#all.size
  }

  [Symbol.iterator](): IterableIterator<Connection> {
    return this.#all.values()
  }

  /**
   * Admits a new connection, and closes another connection if there is no room; undefined: the new connection is
   * refused.
   */
  admit(transport: Socket): Connection | undefined {
    const address = addressShare(plainAddress(transport.remoteAddress))
    const known = this.#shares.get(address)
    const full =
      known !== undefined && known.count >= this.#limits.perAddress
        ? !this.#makeRoom([known])
        : this.#all.size >= this.#limits.connections && !this.#makeRoom(this.#greediest())
    if (full) {
      this.#crowded = true
      this.counts.refused++
      return undefined
    }
    const share = this.#shares.get(address) ?? { address, count: 0, silent: new Set(), served: new Set() }
    this.#shares.set(address, share)
    const connection: Connection = {
      transport,
      socket: transport,
      request: undefined,
      response: undefined,
      pipelined: 0,
      since: 0,
      upgraded: false,
      taken: 0,
      unreadSince: 0,
      share,
    }
    this.#all.add(connection)
    share.silent.add(connection)
    this.#count(share, 1)
    return connection
  }

  /**
   * Marks a connection over which another controller of the site forwards requests of many clients. The connection then
   * counts for the site, not for an address.
   */
  carriesOthers(connection: Connection): void {
    const { share } = connection
    if (share.address === ofSite || !this.#all.has(connection)) return
    share.silent.delete(connection)
    share.served.delete(connection)
    this.#count(share, -1)
    const site = this.#shares.get(ofSite) ?? { address: ofSite, count: 0, silent: new Set(), served: new Set() }
    this.#shares.set(ofSite, site)
    connection.share = site
    site.silent.add(connection)
    this.#count(site, 1)
  }

  /**
   * Records a request on a connection; closes the connection if too many of its requests are unanswered.
   * @param response undefined: the connection leaves HTTP with this request
   */
  requested(connection: Connection, request: IncomingMessage, response: ServerResponse | undefined): void {
    if (connection.request === undefined && this.#all.has(connection)) {
      connection.share.silent.delete(connection)
      connection.share.served.add(connection)
    }
    // Checked before the response is replaced: a client that waits for each answer is never counted.
    const waits = busy(connection)
    connection.request = request
    connection.response = response
    connection.upgraded = response === undefined
    connection.since = performance.now()
    if (waits && response !== undefined) this.#pipelined(connection, response)
  }

  #pipelined(connection: Connection, response: ServerResponse): void {
    connection.pipelined += 1
    response.once('close', () => {
      connection.pipelined -= 1
    })
    if (connection.pipelined < maxUnanswered) return
    stopReading(connection.socket)
    connection.socket.destroy()
  }

  /**
   * Finds clients that do not read their answers, so that their connections can be closed to make room. Called once a
   * second; does nothing unless connections were refused.
   */
  lookAtReaders(now = performance.now()): void {
    if (!this.#crowded) return
    let unread = false
    for (const connection of this.#all) {
      if (connection.upgraded) continue
      const { bytesWritten, writableLength } = connection.socket
      const taken = bytesWritten - writableLength
      if (writableLength === 0 || taken !== connection.taken) connection.unreadSince = 0
      else if (connection.unreadSince === 0) connection.unreadSince = now
      connection.taken = taken
      unread ||= writableLength > 0
    }
    this.#crowded = unread
  }

  /** Removes a connection that ended. Idempotent. */
  remove(connection: Connection): void {
    if (!this.#all.delete(connection)) return
    connection.share.silent.delete(connection)
    connection.share.served.delete(connection)
    this.#count(connection.share, -1)
  }

  #count(share: Share, by: 1 | -1): void {
    const before = this.#byCount.get(share.count)
    before?.delete(share)
    if (before?.size === 0) this.#byCount.delete(share.count)
    share.count += by
    if (share.count === 0) this.#shares.delete(share.address)
    else this.#withCount(share.count).add(share)
    // The count changed by one, so the maximum changes by at most one.
    if (share.count > this.#maxCount) this.#maxCount = share.count
    else if (!this.#byCount.has(this.#maxCount)) this.#maxCount = Math.max(this.#maxCount - 1, 0)
  }

  #withCount(count: number): Set<Share> {
    const shares = this.#byCount.get(count) ?? new Set()
    this.#byCount.set(count, shares)
    return shares
  }

  #greediest(): Share[] {
    const busiest = this.#withCount(this.#maxCount)
    const found: Share[] = []
    for (const share of busiest) {
      if (found.push(share) === addressLooks) break
    }
    // The found shares are moved to the end, so that other shares are checked next time.
    for (const share of found) {
      busiest.delete(share)
      busiest.add(share)
    }
    return found
  }

  #makeRoom(shares: readonly Share[]): boolean {
    for (const share of shares) {
      const idle = oldestIdle(share, this.#unreadMs)
      if (idle === undefined) continue
      this.counts.ended++
      this.remove(idle)
      idle.transport.destroy()
      return true
    }
    return false
  }
}

/** Whether a request is under way on a connection, so that a stop must wait for it. */
export function busy({ upgraded, response }: Connection): boolean {
  return upgraded || (response !== undefined && !response.writableFinished && !response.closed)
}

/**
 * Returns the connection to close first: a connection without any request; otherwise a connection between two requests,
 * with a slow body, or with a client that does not read the answer.
 */
function oldestIdle({ silent, served }: Share, unreadMs: number): Connection | undefined {
  for (const connection of silent) return connection
  let left = looks
  const now = performance.now()
  for (const connection of served) {
    const unread = connection.unreadSince > 0 && now - connection.unreadSince >= unreadMs
    if (!busy(connection) || unread || sendsSlowly(connection, now - slowBodyMs)) return connection
    served.delete(connection)
    served.add(connection)
    if (--left === 0) return undefined
  }
  return undefined
}

/**
 * Node's request parser. This property is undocumented, but no documented API can stop the parser. Without the
 * property, further input is read and discarded.
 */
interface RequestParser {
  /** Called with each request; returns 2: the rest of the input is not HTTP, and is not parsed. */
  onIncoming?: () => number
}

/**
 * Leaves the rest of a received chunk unparsed. A chunk contains up to 3,600 requests. Node would create objects for
 * all of them before it serves other connections, although this connection is closed.
 */
function stopReading(socket: Socket & { parser?: RequestParser | null }): void {
  if (socket.parser?.onIncoming !== undefined) socket.parser.onIncoming = () => 2
}

function sendsSlowly({ upgraded, request, response, since }: Connection, slow: number): boolean {
  return !upgraded && request?.complete === false && response?.headersSent === false && since < slow
}
