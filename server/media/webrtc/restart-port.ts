import dgram, { type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import { restartPortAbove } from '../../../shared/media/ports.ts'
import { type MediaLog, wholeText } from '../base/media-log.ts'
import { isStun, readStun, type StunMessage } from './stun.ts'

/** A connection whose client has restarted ICE. */
export interface RestartedConnection {
  /**
   * Takes a STUN message for one of the connection's user fragments. Returns whether the message came from the client.
   * If so, further packets from this address belong to the connection.
   */
  check(message: StunMessage, packet: Buffer, from: RemoteInfo): boolean
  /** Takes a STUN answer from an address of the client. */
  answered(message: StunMessage, packet: Buffer, from: RemoteInfo): void
  /** Takes a media packet of the client. */
  media(packet: Buffer): void
}

/** Maximum number of addresses per client; the oldest is dropped. */
const maxAddresses = 16
/** Socket buffer size in bytes: a burst to a new viewer fits. */
const bufferBytes = 1024 * 1024

/**
 * UDP port for clients that restart ICE, because the library's own port supports one ICE session per connection. Opened
 * at the first restart.
 */
export class RestartPort {
  readonly #wanted: readonly number[]
  readonly #bindAddress: string | undefined
  readonly #log: MediaLog
  readonly #byFragment = new Map<string, RestartedConnection>()
  readonly #byAddress = new Map<string, RestartedConnection>()
  /** Keys of `#byAddress`, oldest first. */
  readonly #addresses = new Map<RestartedConnection, string[]>()
  #socket: Promise<dgram.Socket> | undefined
  #open: dgram.Socket | undefined
  #closed = false

  /**
   * @param near the port number is 100 above this number if that port is free, otherwise any free port
   * @param bindAddress undefined: every interface
   */
  constructor(near: number, bindAddress: string | undefined, log: MediaLog) {
    this.#wanted = near + restartPortAbove <= 65_535 ? [near + restartPortAbove, 0] : [0]
    this.#bindAddress = bindAddress
    this.#log = log
  }

  /** Opens the port if necessary and returns its number. @throws Error of the system */
  async open(): Promise<number> {
    this.#socket ??= this.#bind()
    return (await this.#socket).address().port
  }

  /** Routes checks for a user fragment of the node to a connection. */
  admit(userFragment: string, connection: RestartedConnection): void {
    this.#byFragment.set(userFragment, connection)
  }

  forget(userFragment: string): void {
    this.#byFragment.delete(userFragment)
  }

  remove(connection: RestartedConnection): void {
    for (const [fragment, value] of this.#byFragment) if (value === connection) this.#byFragment.delete(fragment)
    for (const address of this.#addresses.get(connection) ?? []) this.#release(address, connection)
    this.#addresses.delete(connection)
  }

  send(packet: Buffer, to: { address: string; port: number }): void {
    // Send failures concern one client's network; a silent client is dropped later.
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
    // The next call tries again.
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

  /** Removes an address unless it belongs to another connection by now. */
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
