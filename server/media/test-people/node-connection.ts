import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'
import ndc, { type Audio, type PeerConnection, type Track, type Video } from 'node-datachannel'
import { Lifetime } from '../base/lifetime.ts'
import { askNode, type NodeTrust } from './node-requests.ts'

/** Place of a WHIP or WHEP session on a node. */
export interface SessionAddress {
  url: URL
  /** Session key of the person. */
  token: string
  trust: NodeTrust
}

/** Conditions of a link: share of lost media packets, 0 to 1, and the generator that chooses them. */
export interface LinkLoss {
  share: number
  random: () => number
}

/** Maximum time from the answer to the connection, in milliseconds. */
const connectMs = 20_000
const loopbackName = /^(?:127\.|localhost$)/

/** A connection to a node that this side offers, by WHIP (RFC 9725) or WHEP (draft-ietf-wish-whep). */
export class NodeConnection {
  readonly #address: SessionAddress
  readonly #loss: LinkLoss
  readonly #connection: PeerConnection
  readonly #tracks: Track[] = []
  readonly #connected = Promise.withResolvers<void>()
  /** Timers and handlers of the connection; ends when the connection is closed or lost. */
  readonly lifetime = new Lifetime(() => this.close())

  constructor(address: SessionAddress, loss: LinkLoss) {
    this.#address = address
    this.#loss = loss
    this.#connection = new ndc.PeerConnection('test person', {
      iceServers: [],
      disableAutoNegotiation: true,
      // Without it, the library ignores loopback, which may be the only network.
      ...(loopbackName.test(address.url.hostname) && { bindAddress: '127.0.0.1' }),
    })
    // Only `connect` awaits it.
    this.#connected.promise.catch(() => {})
    this.#connection.onStateChange(
      this.lifetime.guard((state: string) => {
        if (state === 'connected') this.#connected.resolve()
        if (state === 'closed' || state === 'failed' || state === 'disconnected') this.close()
      }),
    )
    this.lifetime.onEnd(() => {
      this.#connected.reject(new Error('the connection failed'))
      // Tracks must be closed first; otherwise the process never exits.
      for (const track of this.#tracks) track.close()
      this.#connection.close()
    })
  }

  /** Adds a media section to the offer. `onMessage` gets RTP and RTCP packets. */
  addTrack(media: Audio | Video, onMessage: (message: Buffer) => void): Track {
    const track = this.#connection.addTrack(media)
    // Without this handler, the library crashes after a garbage collection.
    track.onClosed(() => {})
    track.onMessage(this.lifetime.guard(onMessage))
    this.#tracks.push(track)
    return track
  }

  /**
   * Offers the tracks, and waits for the connection.
   * @param change changes the offer
   * @throws Error if the node refuses, or no connection follows
   */
  async connect(change: (sdp: string) => string = (sdp) => sdp): Promise<void> {
    const { url, token, trust } = this.#address
    const relay =
      this.#loss.share === 0 ? undefined : await LossyRelay.open(this.#loss.share, this.#loss.random, this.lifetime)
    const body = change(await this.#offer())
    const { status, location = '', body: answer } = await askNode(url, trust, { method: 'POST', token, body })
    if (status !== 201) throw new Error(`the node answered ${status}: ${answer.slice(0, 200)}`)
    const session = URL.parse(location, url.href)
    if (session !== null) this.lifetime.onEnd(() => end(session, trust))
    if (this.lifetime.over) throw new Error('the connection was closed')
    this.#connection.setRemoteDescription(relay?.through(answer) ?? answer, 'answer')
    const cancel = this.lifetime.after(connectMs, () => this.close())
    await this.#connected.promise
    cancel()
  }

  /** Ends the connection and its session. Idempotent. */
  close(): void {
    this.lifetime.end()
  }

  /**
   * Returns the offer once all addresses are gathered, without the addresses: if the node called first, the library
   * could finish before it has stored its peer.
   */
  async #offer(): Promise<string> {
    const gathered = Promise.withResolvers<void>()
    this.#connection.onGatheringStateChange((state) => {
      if (state === 'complete') gathered.resolve()
    })
    this.#connection.setLocalDescription('offer')
    await gathered.promise
    return (this.#connection.localDescription()?.sdp ?? '').replace(/a=candidate:[^\r\n]*\r\n/g, '')
  }
}

/** Ends the session on the node. */
function end(session: URL, trust: NodeTrust): void {
  askNode(session, trust, { method: 'DELETE', token: '' }).catch(() => {
    // The node ends a session without a connection itself.
  })
}

/** Address of a candidate in a session description (RFC 8839, section 5.1): foundation, component, UDP, priority. */
const candidate = /^(a=candidate:\S+ 1 UDP \d+ )(\S+) (\d+)/gim

const loopback = '127.0.0.1'

/**
 * Relay between a connection and its node that drops packets of media in both directions, like a bad link. Other
 * packets pass, so that a person does arrive.
 */
class LossyRelay {
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
