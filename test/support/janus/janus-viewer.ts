import ndc, { type PeerConnection, type Track } from 'node-datachannel'
import { sole } from '../sole-leadership.ts'
import type { JanusHandle } from '../../../server/nodes/janus/wire/janus-handle.ts'
import { JanusSession } from '../../../server/nodes/janus/wire/janus-session.ts'
import { JanusSocket } from '../../../server/nodes/janus/wire/janus-socket.ts'
import { whenGathered } from '../media/answered-offer.ts'
import type { JanusServer } from './janus-server.ts'

const patienceMs = 10_000

/** Reception of a picture. */
export interface Watched {
  packets: number
  /** Packets lost since the first one. */
  lost: number
  frames: number
  /** Maximum interval between two frames, in milliseconds: by capture time and by arrival. */
  maxStep: number
  maxGap: number
}

/** A viewer of one participant of a Janus room, by Janus's own API and a real WebRTC peer, that counts packets. */
export class JanusViewer implements AsyncDisposable {
  readonly #socket: JanusSocket
  readonly #connection: PeerConnection
  readonly #tracks: Track[] = []
  readonly #first = Promise.withResolvers<void>()
  #payloadType = -1
  #firstSequence = 0
  /** Sequence number without wrap, and frame time in units of 1/90,000 s. */
  #highest = 0
  #timestamp = 0
  #arrivedAt = 0
  #watched: Watched = { packets: 0, lost: 0, frames: 0, maxStep: 0, maxGap: 0 }

  private constructor(socket: JanusSocket, connection: PeerConnection) {
    this.#socket = socket
    this.#connection = connection
    connection.onTrack((track) => {
      this.#tracks.push(track)
      // Answers sender reports, as a browser does.
      track.setMediaHandler(new ndc.RtcpReceivingSession())
      track.onMessage((packet) => this.#take(packet))
    })
  }

  /**
   * Resolves at the first picture. The feed must have no sound.
   * @param shown credentials, if the room needs any: the core token, or the API secret @throws Error if nothing arrives within 10 s
   */
  static async watch(
    janus: JanusServer,
    room: string,
    feed: string,
    shown: { token?: string | undefined; inRoom?: Readonly<Record<string, unknown>> } = {},
  ): Promise<JanusViewer> {
    const signal = AbortSignal.timeout(patienceMs)
    const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: console.error }
    const { token, inRoom } = shown
    const apiSecret = token === undefined ? janus.configuration.secrets.api : ''
    const socket = await JanusSocket.open({ url: janus.wsUrl, apiSecret, token, leadership: sole, logger }, signal)
    const connection = new ndc.PeerConnection('viewer', { iceServers: [], disableAutoNegotiation: true })
    const viewer = new JanusViewer(socket, connection)
    try {
      const session = await JanusSession.create(socket, signal)
      const handle = await session.attach('janus.plugin.videoroom', signal)
      await viewer.#connect(
        handle,
        { ...inRoom, request: 'join', ptype: 'subscriber', room, streams: [{ feed }] },
        signal,
      )
      return viewer
    } catch (error) {
      await viewer[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Reception since the start. */
  get watched(): Watched {
    const lost = this.#highest - this.#firstSequence + 1 - this.#watched.packets
    const gap = Math.max(this.#watched.maxGap, performance.now() - this.#arrivedAt)
    return { ...this.#watched, lost, maxGap: Math.round(gap) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const track of this.#tracks) track.close()
    this.#connection.close()
    this.#socket.close()
    await this.#socket.closed
  }

  async #connect(handle: JanusHandle, join: Record<string, unknown>, signal: AbortSignal): Promise<void> {
    const candidates: string[] = []
    let isDescribed = false
    handle.onEvent((event) => {
      if (event.type !== 'trickle') return
      const { candidate } = event.candidate
      if (candidate === undefined) return
      if (isDescribed) this.#connection.addRemoteCandidate(candidate, event.candidate.sdpMid ?? '')
      else candidates.push(candidate)
    })
    const { jsep: offer } = await handle.request(join, signal)
    if (offer === undefined) throw new Error('Janus offers nothing')
    const gathered = whenGathered(this.#connection)
    this.#connection.setRemoteDescription(offer.sdp, 'offer')
    isDescribed = true
    for (const candidate of candidates) this.#connection.addRemoteCandidate(candidate, '')
    this.#connection.setLocalDescription('answer')
    await gathered
    const sdp = this.#connection.localDescription()?.sdp ?? ''
    await handle.request({ request: 'start' }, signal, { type: 'answer', sdp })
    signal.addEventListener('abort', () => this.#first.reject(new Error('no picture came')), { once: true })
    await this.#first.promise
  }

  #take(packet: Buffer): void {
    const payloadType = (packet[1] ?? 0) & 0x7f
    // Skips RTCP, which shares the port (RFC 5761, section 4).
    if (payloadType >= 64 && payloadType <= 95) return
    const sequence = packet.readUInt16BE(2)
    const timestamp = packet.readUInt32BE(4)
    const now = performance.now()
    if (this.#payloadType < 0) {
      this.#payloadType = payloadType
      this.#firstSequence = sequence
      this.#highest = sequence - 1
      this.#timestamp = timestamp
      this.#arrivedAt = now
      this.#first.resolve()
    }
    // Skips retransmissions, which have a payload type of their own (RFC 4588).
    if (payloadType !== this.#payloadType) return
    this.#watched.packets += 1
    const ahead = ((sequence - this.#highest) << 16) >> 16
    if (ahead > 0) this.#highest += ahead
    const step = (timestamp - this.#timestamp) | 0
    if (step <= 0) return
    this.#watched.frames += 1
    this.#watched.maxStep = Math.max(this.#watched.maxStep, Math.round(step / 90))
    this.#watched.maxGap = Math.max(this.#watched.maxGap, now - this.#arrivedAt)
    this.#timestamp = timestamp
    this.#arrivedAt = now
  }
}
