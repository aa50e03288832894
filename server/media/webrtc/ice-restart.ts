import { randomBytes } from 'node:crypto'
import dgram, { type RemoteInfo } from 'node:dgram'
import net from 'node:net'
import type { Lifetime } from '../base/lifetime.ts'
import type { RestartedConnection, RestartPort } from './restart-port.ts'
import { type Address, ReturnChecks } from './return-checks.ts'
import {
  hasIntegrity,
  type IceCredentials,
  isStun,
  nominatingRequest,
  readStun,
  type StunMessage,
  successResponse,
} from './stun.ts'

/** The ICE session that the library has with a client: it knows this one for good. */
export interface FirstIceSession {
  /** Of the node, and of the client. */
  node: IceCredentials
  client: IceCredentials
  /** Where the library listens. */
  host: string
  port: number
}

/** One ICE session that took the place of the first. */
interface Generation {
  node: IceCredentials
  client: IceCredentials
  /** Its client has come. */
  begun: boolean
}

/** Higher than any candidate's (RFC 8445, section 5.1.2): the library sends by the pair of the highest priority. */
const highestPriority = 2 ** 31 - 1
/** The library answers within a millisecond or so; how often it is asked, and milliseconds between. */
const nominateEveryMs = 50
const maxNominations = 20
/** Without a check for so long the client has left (RFC 7675, section 5.1), in milliseconds. */
const consentMs = 15_000

/**
 * What carries a connection on when its client begins ICE anew (RFC 8445, section 9), from another network perhaps. The library cannot take part in a second ICE
 * session, and the encryption must go on with the first one's. So this is the library's client of the first session, on this machine, and the node of the new
 * session toward the client; whatever is not ICE passes by unread.
 */
export class IceRestart implements RestartedConnection {
  readonly #first: FirstIceSession
  readonly #outside: RestartPort
  readonly #lifetime: Lifetime
  readonly #moved: () => void
  readonly #tieBreaker = randomBytes(8)
  /** The one before stays until the next has been heard of: media goes on meanwhile. */
  #generations: Generation[] = []
  readonly #returnChecks: ReturnChecks
  /** Last check of the client that waits for its address to answer. */
  #waiting: { generation: Generation; from: Address; nominates: boolean } | undefined
  /** Address of the client, which has answered a return check. */
  #client: Address | undefined
  #heardAt = 0
  #inside: dgram.Socket | undefined
  #nominated = false
  /** The library sends this way. */
  #accepted = false

  /** @param moved told each time that media goes by a new way */
  constructor(first: FirstIceSession, outside: RestartPort, lifetime: Lifetime, moved: () => void) {
    this.#moved = moved
    this.#first = first
    this.#outside = outside
    this.#lifetime = lifetime
    this.#returnChecks = new ReturnChecks((packet, to) => outside.send(packet, to))
    lifetime.onEnd(() => {
      outside.remove(this)
      this.#inside?.close()
    })
  }

  /** Begins a new ICE session: the node's credentials in it. */
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
    this.#heardAt = performance.now()
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

  /** Media goes to an address that has answered. */
  #follow(generation: Generation, from: Address, nominates: boolean): void {
    const isLatest = generation === this.#generations[0]
    // Before the client has chosen, any way that works is good enough.
    if (isLatest && (nominates || !this.#nominated)) {
      this.#client = { address: from.address, port: from.port }
      this.#nominated ||= nominates
    }
    if (this.#inside === undefined) this.#connect()
    else if (isLatest && !generation.begun && this.#accepted) this.#moved()
    generation.begun = true
  }

  media(packet: Buffer): void {
    if (!this.#lifetime.over) this.#inside?.send(packet, this.#first.port, this.#first.host, () => {})
  }

  /** Only now: until the client has come the other way, the library sends by the old one. */
  #connect(): void {
    const { host, port } = this.#first
    const socket = dgram.createSocket({ type: net.isIPv6(host) ? 'udp6' : 'udp4', recvBufferSize: 1024 * 1024 })
    this.#inside = socket
    // The library is on this machine: when it is gone, so is the connection.
    socket.on('error', () => {})
    socket.on(
      'message',
      this.#lifetime.guard((packet: Buffer, from: RemoteInfo) => {
        if (from.port === port && from.address === host) this.#fromLibrary(packet, socket)
      }),
    )
    socket.bind(
      0,
      host,
      this.#lifetime.guard(() => this.#nominate(socket, maxNominations)),
    )
  }

  /** Asks the library to send this way. */
  #nominate(socket: dgram.Socket, triesLeft: number): void {
    const { node, client, host, port } = this.#first
    const username = `${node.userFragment}:${client.userFragment}`
    socket.send(nominatingRequest(username, node.password, highestPriority, this.#tieBreaker), port, host, () => {})
    if (triesLeft > 0 && !this.#accepted) {
      this.#lifetime.after(nominateEveryMs, () => this.#accepted || this.#nominate(socket, triesLeft - 1))
    }
  }

  #fromLibrary(packet: Buffer, socket: dgram.Socket): void {
    const { client, node, host, port } = this.#first
    if (!isStun(packet)) {
      if (this.#client !== undefined) this.#outside.send(packet, this.#client)
      return
    }
    const message = readStun(packet)
    if (message?.class === 'success' && !this.#accepted && hasIntegrity(packet, message, node.password)) {
      this.#accepted = true
      this.#moved()
    }
    if (message?.class !== 'request' || !hasIntegrity(packet, message, client.password)) return
    // Without an answer, the library ends the connection.
    if (performance.now() - this.#heardAt > consentMs) return
    socket.send(successResponse(message, { address: host, port }, client.password), port, host, () => {})
  }
}
