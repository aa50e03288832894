import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'
import type { Lifetime } from '../base/lifetime.ts'

/** Address of a candidate in a session description (RFC 8839, section 5.1): foundation, component, UDP, priority. */
const candidate = /^(a=candidate:\S+ 1 UDP \d+ )(\S+) (\d+)/gim

const loopback = '127.0.0.1'

/**
 * Relay between a connection and its node that drops packets of media in both directions, like a bad link. Other
 * packets pass, so that a person does arrive.
 */
export class LossyRelay {
  readonly #socket: Socket
  readonly #share: number
  readonly #random: () => number
  #node: { address: string; port: number } | undefined
  #peer: { address: string; port: number } | undefined

  private constructor(socket: Socket, share: number, random: () => number) {
    this.#socket = socket
    this.#share = share
    this.#random = random
    socket.on('message', (packet, { address, port }) => this.#pass(packet, { address, port }))
    // A packet that the system refuses is lost as well.
    socket.on('error', () => {})
  }

  /** @param share share of the packets that are dropped, 0 to 1 */
  static async open(share: number, random: () => number, lifetime: Lifetime): Promise<LossyRelay> {
    const socket = createSocket('udp4')
    socket.bind(0)
    await once(socket, 'listening')
    lifetime.onEnd(() => socket.close())
    return new LossyRelay(socket, share, random)
  }

  /** Returns the answer of a node with the relay as its only address. The first IPv4 address of the node is used. */
  through(answer: string): string {
    const [, , address, port] = [...answer.matchAll(candidate)].find(([, , host = '']) => isIPv4(host)) ?? []
    if (address === undefined) return answer
    this.#node = { address, port: Number(port) }
    return answer.replace(candidate, `$1${loopback} ${this.#socket.address().port}`)
  }

  #pass(packet: Buffer, from: { address: string; port: number }): void {
    const isFromNode = from.port === this.#node?.port && from.address === this.#node.address
    if (!isFromNode && from.address === loopback) this.#peer = from
    const to = isFromNode ? this.#peer : this.#node
    if (to === undefined || (isMedia(packet) && this.#random() < this.#share)) return
    this.#socket.send(packet, to.port, to.address)
  }
}

/** Whether a packet is RTP or RTCP (RFC 7983, section 7). */
function isMedia([first = 0]: Buffer): boolean {
  return first >= 128 && first <= 191
}
