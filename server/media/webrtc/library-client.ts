import { randomBytes } from 'node:crypto'
import dgram, { type RemoteInfo } from 'node:dgram'
import net from 'node:net'
import type { Lifetime } from '../base/lifetime.ts'
import { hasIntegrity, type IceCredentials, isStun, nominatingRequest, readStun, successResponse } from './stun.ts'

/** The single ICE session that the library can have with a client. */
export interface FirstIceSession {
  node: IceCredentials
  client: IceCredentials
  /** Address where the library listens. */
  host: string
  port: number
}

/** Events from the library. */
export interface LibraryListener {
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
export class LibraryClient {
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
