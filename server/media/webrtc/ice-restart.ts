import { randomBytes } from 'node:crypto'
import dgram, { type RemoteInfo } from 'node:dgram'
import net from 'node:net'
import { LRUCache } from 'lru-cache'
import type { Lifetime } from '../base/lifetime.ts'
import type { RestartedConnection, RestartPort } from './restart-port.ts'
import {
  hasIntegrity,
  type IceCredentials,
  isStun,
  nominatingRequest,
  readStun,
  returnCheck,
  type StunMessage,
  successResponse,
} from './stun.ts'

/** An ICE session that replaced the first session. */
interface Generation {
  node: IceCredentials
  client: IceCredentials
  /** Whether the client has connected in this session. */
  begun: boolean
}

/** Silence, in milliseconds, after which the client is considered gone (RFC 7675, section 5.1). */
const consentMs = 15_000

/**
 * Continues a connection whose client restarts ICE (RFC 8445, section 9), perhaps from another network. The library
 * supports one ICE session per connection, and encryption must continue with the first session. Therefore, this class
 * acts as the node of the new session toward the client, and as the client of the first session toward the library.
 * Packets other than ICE pass unchanged.
 */
export class IceRestart implements RestartedConnection {
  readonly #outside: RestartPort
  readonly #lifetime: Lifetime
  readonly #moved: () => void
  readonly #library: LibraryClient
  readonly #returnChecks: ReturnChecks
  /**
   * The latest two sessions, newest first. Media continues in the previous session until the client has connected in
   * the new session.
   */
  #generations: Generation[] = []
  /** Latest check of the client from an address that has not answered a return check yet. */
  #waiting: { generation: Generation; from: Address; nominates: boolean } | undefined
  /** Address of the client that has answered a return check. */
  #client: Address | undefined
  #nominated = false
  #checkedAt = 0

  /** @param moved called each time media switches to another path */
  constructor(first: FirstIceSession, outside: RestartPort, lifetime: Lifetime, moved: () => void) {
    this.#moved = moved
    this.#outside = outside
    this.#lifetime = lifetime
    this.#returnChecks = new ReturnChecks((packet, to) => outside.send(packet, to))
    lifetime.onEnd(() => outside.remove(this))
    this.#library = new LibraryClient(first, lifetime, {
      accepted: moved,
      media: (packet) => {
        if (this.#client !== undefined) outside.send(packet, this.#client)
      },
      hasConsent: () => performance.now() - this.#checkedAt <= consentMs,
    })
  }

  /** Begins a new ICE session. Returns the node's credentials for this session. */
  begin(client: IceCredentials): IceCredentials {
    const node = { userFragment: randomBytes(6).toString('base64'), password: randomBytes(18).toString('base64') }
    const [current] = this.#generations
    for (const { node: gone } of this.#generations.slice(1)) this.#outside.forget(gone.userFragment)
    this.#generations = [{ node, client, begun: false }, ...(current === undefined ? [] : [current])]
    this.#nominated = false
    this.#outside.admit(node.userFragment, this)
    return node
  }

  check(message: StunMessage, packet: Buffer, from: RemoteInfo): boolean {
    if (this.#lifetime.over || message.class !== 'request') return false
    const generation = this.#generations.find(
      ({ node, client }) => message.username === `${node.userFragment}:${client.userFragment}`,
    )
    if (generation === undefined || !hasIntegrity(packet, message, generation.node.password)) return false
    this.#checkedAt = performance.now()
    this.#outside.send(successResponse(message, from, generation.node.password), from)
    const reachable = this.#returnChecks.isReachable(from, generation.node, generation.client)
    if (reachable) this.#follow(generation, from, message.nominates)
    else this.#waiting = { generation, from, nominates: message.nominates }
    return true
  }

  answered(message: StunMessage, packet: Buffer, from: RemoteInfo): void {
    if (this.#lifetime.over || !this.#returnChecks.answered(message, packet, from)) return
    const waiting = this.#waiting
    if (waiting?.from.address !== from.address || waiting.from.port !== from.port) return
    this.#waiting = undefined
    this.#follow(waiting.generation, waiting.from, waiting.nominates)
  }

  media(packet: Buffer): void {
    if (!this.#lifetime.over) this.#library.send(packet)
  }

  /** Sends media to an address that has answered a return check. */
  #follow(generation: Generation, from: Address, nominates: boolean): void {
    const isLatest = generation === this.#generations[0]
    // Until the client has nominated a path, any path that works is used.
    if (isLatest && (nominates || !this.#nominated)) {
      this.#client = { address: from.address, port: from.port }
      this.#nominated ||= nominates
    }
    // The library switches only now: it must send on the old path until the client has connected on the new path.
    if (!this.#library.begun) this.#library.connect()
    else if (isLatest && !generation.begun && this.#library.accepted) this.#moved()
    generation.begun = true
  }
}

/** The single ICE session that the library can have with a client. */
interface FirstIceSession {
  node: IceCredentials
  client: IceCredentials
  /** Address where the library listens. */
  host: string
  port: number
}

/** Events from the library. */
interface LibraryListener {
  /** Called when the library has accepted the path through this client and sends on it. */
  accepted(): void
  /** Takes a packet from the library that is not ICE. */
  media(packet: Buffer): void
  /** Returns whether the real client still sends checks (RFC 7675, section 5.1). */
  hasConsent(): boolean
}

/**
 * Priority above that of any candidate (RFC 8445, section 5.1.2): the library sends on the pair with the highest
 * priority.
 */
const highestPriority = 2 ** 31 - 1
/**
 * Interval of nominations in milliseconds, and their maximum number. The library answers within about a millisecond.
 */
const nominateEveryMs = 50
const maxNominations = 20

/**
 * Acts as the client of the library's first ICE session, on this machine, for a client that has begun another session.
 */
class LibraryClient {
  readonly #first: FirstIceSession
  readonly #lifetime: Lifetime
  readonly #listener: LibraryListener
  readonly #tieBreaker = randomBytes(8)
  #socket: dgram.Socket | undefined
  #accepted = false

  constructor(first: FirstIceSession, lifetime: Lifetime, listener: LibraryListener) {
    this.#first = first
    this.#lifetime = lifetime
    this.#listener = listener
    lifetime.onEnd(() => this.#socket?.close())
  }

  get begun(): boolean {
    return this.#socket !== undefined
  }

  get accepted(): boolean {
    return this.#accepted
  }

  /** Connects to the library and nominates this path. */
  connect(): void {
    const { host, port } = this.#first
    const socket = dgram.createSocket({ type: net.isIPv6(host) ? 'udp6' : 'udp4', recvBufferSize: 1024 * 1024 })
    this.#socket = socket
    // The library runs on this machine: if its socket is closed, the connection has ended as well.
    socket.on('error', () => {})
    socket.on(
      'message',
      this.#lifetime.guard((packet: Buffer, from: RemoteInfo) => {
        if (from.port === port && from.address === host) this.#received(packet, socket)
      }),
    )
    socket.bind(
      0,
      host,
      this.#lifetime.guard(() => this.#nominate(socket, maxNominations)),
    )
  }

  /** Forwards a packet of the client to the library; drops it before `connect`. */
  send(packet: Buffer): void {
    this.#socket?.send(packet, this.#first.port, this.#first.host, () => {})
  }

  #nominate(socket: dgram.Socket, triesLeft: number): void {
    const { node, client, host, port } = this.#first
    const username = `${node.userFragment}:${client.userFragment}`
    socket.send(nominatingRequest(username, node.password, highestPriority, this.#tieBreaker), port, host, () => {})
    if (triesLeft > 0 && !this.#accepted) {
      this.#lifetime.after(nominateEveryMs, () => this.#accepted || this.#nominate(socket, triesLeft - 1))
    }
  }

  #received(packet: Buffer, socket: dgram.Socket): void {
    if (!isStun(packet)) return this.#listener.media(packet)
    const { client, node, host, port } = this.#first
    const message = readStun(packet)
    if (message?.class === 'success' && !this.#accepted && hasIntegrity(packet, message, node.password)) {
      this.#accepted = true
      this.#listener.accepted()
    }
    if (message?.class !== 'request' || !hasIntegrity(packet, message, client.password)) return
    // Without an answer the library ends the connection.
    if (!this.#listener.hasConsent()) return
    socket.send(successResponse(message, { address: host, port }, client.password), port, host, () => {})
  }
}

/** Source address of packets. */
interface Address {
  address: string
  port: number
}

/** Maximum number of checked addresses per client; the one checked least recently is dropped first. */
const maxAddresses = 16
/**
 * Minimum interval of return checks, in milliseconds. The client repeats its checks while a return check is pending.
 */
const checkEveryMs = 40

interface Check {
  transaction: Buffer
  password: string
  sentAt: number
  answered: boolean
}

/**
 * Sends the return checks of one ICE session. The node sends media only to an address that has answered a check,
 * because the source of a datagram can be forged (RFC 8445, sections 7.3.1.4 and 19.5.1).
 */
class ReturnChecks {
  readonly #send: (packet: Buffer, to: Address) => void
  readonly #tieBreaker = randomBytes(8)
  readonly #checks = new LRUCache<string, Check>({ max: maxAddresses })

  constructor(send: (packet: Buffer, to: Address) => void) {
    this.#send = send
  }

  /**
   * Returns whether an address has answered; otherwise sends a check to it.
   * @param node the node's credentials in the ICE session
   * @param client the client's credentials in the ICE session
   */
  isReachable(from: Address, node: IceCredentials, client: IceCredentials): boolean {
    const place = placeOf(from)
    const known = this.#checks.peek(place)
    const sameSession = known?.password === client.password
    if (sameSession && known.answered) return true
    const now = performance.now()
    if (sameSession && now - known.sentAt < checkEveryMs) return false
    // All repeats use one transaction, so that a late answer counts.
    const transaction = sameSession ? known.transaction : randomBytes(12)
    this.#checks.set(place, { transaction, password: client.password, sentAt: now, answered: false })
    const username = `${client.userFragment}:${node.userFragment}`
    this.#send(returnCheck(transaction, username, client.password, this.#tieBreaker), from)
    return false
  }

  /** Records an answer. @returns whether it is valid and the first answer from this address */
  answered(message: StunMessage, packet: Buffer, from: Address): boolean {
    const check = this.#checks.peek(placeOf(from))
    if (check === undefined || check.answered || !check.transaction.equals(message.transaction)) return false
    check.answered = hasIntegrity(packet, message, check.password)
    return check.answered
  }
}

function placeOf({ address, port }: Address): string {
  return `${address} ${port}`
}
