import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { addressShare, plainAddress } from '../../shared/client-address.ts'
import { type ConnectionLimits, maxUnanswered, slowBodyMs } from './limits.ts'

/** One connection of a port. */
export interface Connection {
  /** Accepted connection. */
  readonly transport: Socket
  /** Socket that requests arrive on: `transport`, or the TLS socket over it after the handshake. */
  socket: Socket
  /** The newest request and its answer; undefined before the first. */
  request: IncomingMessage | undefined
  response: ServerResponse | undefined
  /** Requests that came while the one before was not answered, and whose own answers are not out yet. */
  pipelined: number
  /** performance.now() of the newest request. */
  since: number
  /** It left HTTP (WebSocket). */
  upgraded: boolean
  /** Bytes that the client had taken at the last check; and performance.now() since when it takes no more although more wait. 0: it takes them. */
  taken: number
  unreadSince: number
  /** Share of the connection's address; or of the site, if another controller passes its requests on. */
  share: Share
}

/** The connections of one address. */
interface Share {
  readonly address: string
  count: number
  /** No request yet, oldest first. */
  readonly silent: Set<Connection>
  /** The others; those that were found at work were put at the end. */
  readonly served: Set<Connection>
}

/** In place of an address. */
const ofSite = 'controllers of the site'
/** Limit of connections and addresses that are checked to make room: admission costs the same however many there are. */
const looks = 32
const addressLooks = 4

/**
 * The connections of a port, within its limits. When an address is at its share, or the port is full, the oldest connection that does nothing gives way to the
 * newest: of that address, or of the one that holds most. Only where all are at work is the newest refused.
 */
export class ConnectionTable {
  readonly #limits: ConnectionLimits
  readonly #unreadMs: number
  /** A newcomer found no room since the last look at who reads. */
  #crowded = false
  readonly #all = new Set<Connection>()
  readonly #shares = new Map<string, Share>()
  /** Shares by their number of connections, so that the greediest is found at once. */
  readonly #byCount = new Map<number, Set<Share>>()
  #most = 0
  /** Connections that gave way, and that were refused. */
  readonly counts = { ended: 0, refused: 0 }

  constructor(limits: ConnectionLimits, unreadMs: number) {
    this.#limits = limits
    this.#unreadMs = unreadMs
  }

  /** Connections now. */
  get size(): number {
    return this.#all.size
  }

  /** Every connection now. */
  [Symbol.iterator](): IterableIterator<Connection> {
    return this.#all.values()
  }

  /** Takes in a new connection, for which another may have to end. Undefined: it is refused. */
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

  /** A connection by which another controller of the site passes on what many clients ask: it counts for no address. */
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

  /** Notes a request on a connection; one with too many that are not answered ends. @param response undefined where the connection leaves HTTP with it */
  requested(connection: Connection, request: IncomingMessage, response: ServerResponse | undefined): void {
    if (connection.request === undefined && this.#all.has(connection)) {
      connection.share.silent.delete(connection)
      connection.share.served.add(connection)
    }
    // Checked before it is replaced: a client that waits for each answer costs no more than this.
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

  /** Looks whose client reads its answer, so that the others can make room: called once a second, works only while newcomers find none. */
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

  /** Forgets a connection that ended; again: nothing. */
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
    // One connection more or less: what the greediest holds changes by one.
    if (share.count > this.#most) this.#most = share.count
    else if (!this.#byCount.has(this.#most)) this.#most = Math.max(this.#most - 1, 0)
  }

  #withCount(count: number): Set<Share> {
    const shares = this.#byCount.get(count) ?? new Set()
    this.#byCount.set(count, shares)
    return shares
  }

  #greediest(): Share[] {
    const most = this.#withCount(this.#most)
    const found: Share[] = []
    for (const share of most) {
      if (found.push(share) === addressLooks) break
    }
    // If these have nothing to give up, the next ones are checked next time.
    for (const share of found) {
      most.delete(share)
      most.add(share)
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

/** Whether something is under way on a connection, so that a stop lets it finish. */
export function busy({ upgraded, response }: Connection): boolean {
  return upgraded || (response !== undefined && !response.writableFinished && !response.closed)
}

/** The one to end first: without any request, then between two requests, sending its body for too long, or not reading its answer. */
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

/** Node's parser of requests. Not documented, as nothing is that could stop it; without it, input is read and discarded. */
interface RequestParser {
  /** Called with each request; 2: what follows is none, and is not read. */
  onIncoming?: () => number
}

/**
 * Leaves the rest of what came in one piece unread. A piece holds up to 3,600 requests: Node would make objects of them all before it serves anybody else, although
 * their connection is gone.
 */
function stopReading(socket: Socket & { parser?: RequestParser | null }): void {
  if (socket.parser?.onIncoming !== undefined) socket.parser.onIncoming = () => 2
}

function sendsSlowly({ upgraded, request, response, since }: Connection, slow: number): boolean {
  return !upgraded && request?.complete === false && response?.headersSent === false && since < slow
}
