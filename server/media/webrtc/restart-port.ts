import dgram, { type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import { restartPortAbove } from '../../../shared/media/ports.ts'
import { type Log, wholeText } from '../base/media-log.ts'
import { isStun, readStun, type StunMessage } from './stun.ts'

/** One connection whose client has restarted ICE. */
export interface RestartedConnection {
  /** A STUN message for one of its user fragments. Returns whether it is its client's, so that what comes from there belongs to it. */
  check(message: StunMessage, packet: Buffer, from: RemoteInfo): boolean
  /** A STUN answer from an address of its client. */
  answered(message: StunMessage, packet: Buffer, from: RemoteInfo): void
  /** A packet of its client. */
  media(packet: Buffer): void
}

/** A client has a few addresses; the one that it came by first is forgotten for the next. */
const maxAddresses = 16
/** Bytes that the system holds for the port: a burst to a new viewer fits. */
const bufferBytes = 1024 * 1024

/**
 * UDP port for clients that restart ICE: the library's own port knows one ICE session of a connection only.
 * Opened with the first restart.
 */
export class RestartPort {
  readonly #wanted: readonly number[]
  readonly #bindAddress: string | undefined
  readonly #log: Log
  readonly #byFragment = new Map<string, RestartedConnection>()
  readonly #byAddress = new Map<string, RestartedConnection>()
  /** Keys of `#byAddress`, the oldest first. */
  readonly #addresses = new Map<RestartedConnection, string[]>()
  #socket: Promise<dgram.Socket> | undefined
  #open: dgram.Socket | undefined
  #closed = false

  /**
   * @param near its number is 100 above this one where that is free, and else any
   * @param bindAddress undefined: every interface
   */
  constructor(near: number, bindAddress: string | undefined, log: Log) {
    this.#wanted = near + restartPortAbove <= 65_535 ? [near + restartPortAbove, 0] : [0]
    this.#bindAddress = bindAddress
    this.#log = log
  }

  /** Its number, once it is open. @throws Error of the system */
  async open(): Promise<number> {
    this.#socket ??= this.#bind()
    return (await this.#socket).address().port
  }

  /** Leads the checks for a user fragment of the node to a connection. */
  admit(userFragment: string, connection: RestartedConnection): void {
    this.#byFragment.set(userFragment, connection)
  }

  forget(userFragment: string): void {
    this.#byFragment.delete(userFragment)
  }

  /** Nothing of a connection's comes by here any more. */
  remove(connection: RestartedConnection): void {
    for (const [fragment, value] of this.#byFragment) if (value === connection) this.#byFragment.delete(fragment)
    for (const address of this.#addresses.get(connection) ?? []) this.#release(address, connection)
    this.#addresses.delete(connection)
  }

  send(packet: Buffer, to: { address: string; port: number }): void {
    // Failures are those of one client's network: it is given up when it says nothing any more.
    this.#open?.send(packet, to.port, to.address, () => {})
  }

  close(): void {
    this.#closed = true
    this.#byFragment.clear()
    this.#byAddress.clear()
    this.#addresses.clear()
    this.#open?.close()
    this.#open = undefined
  }

  async #bind(): Promise<dgram.Socket> {
    const address = this.#bindAddress
    const families =
      address === undefined ? (['udp6', 'udp4'] as const) : ([net.isIPv6(address) ? 'udp6' : 'udp4'] as const)
    let failure: unknown
    for (const [type, port] of families.flatMap((type) => this.#wanted.map((wanted) => [type, wanted] as const))) {
      try {
        const socket = await bound(type, port, address)
        if (this.#closed) socket.close()
        socket.on('error', (error) => this.#log.warn('the UDP port of ICE restarts failed', error.message))
        socket.on('message', (packet, from) => this.#received(packet, from))
        this.#open = socket
        return socket
      } catch (error) {
        failure = error
      }
    }
    // The next one may find it better.
    this.#socket = undefined
    throw failure
  }

  #received(packet: Buffer, from: RemoteInfo): void {
    try {
      const place = `${from.address} ${from.port}`
      if (!isStun(packet)) return this.#byAddress.get(place)?.media(packet)
      const message = readStun(packet)
      if (message?.class === 'success') return this.#byAddress.get(place)?.answered(message, packet, from)
      const connection = this.#byFragment.get(message?.username.split(':', 1)[0] ?? '')
      if (message !== undefined && connection?.check(message, packet, from)) this.#lead(place, connection)
    } catch (error) {
      this.#log.error('a packet could not be handled', wholeText(error))
    }
  }

  /** Assigns packets of this address to the connection. */
  #lead(address: string, connection: RestartedConnection): void {
    if (this.#byAddress.get(address) === connection) return
    this.#byAddress.set(address, connection)
    const addresses = this.#addresses.get(connection) ?? []
    this.#addresses.set(connection, addresses)
    addresses.push(address)
    if (addresses.length > maxAddresses) this.#release(addresses.shift() ?? '', connection)
  }

  /** Another connection's client may have come by it since. */
  #release(address: string, connection: RestartedConnection): void {
    if (this.#byAddress.get(address) === connection) this.#byAddress.delete(address)
  }
}

async function bound(type: 'udp4' | 'udp6', port: number, address: string | undefined): Promise<dgram.Socket> {
  const socket = dgram.createSocket({ type, recvBufferSize: bufferBytes, sendBufferSize: bufferBytes })
  try {
    socket.bind(port, address)
    await once(socket, 'listening')
    return socket.unref()
  } catch (error) {
    socket.close()
    throw error
  }
}
