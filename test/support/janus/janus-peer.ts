import ndc, { type PeerConnection, type Track } from 'node-datachannel'
import type { HandleEvent, JanusHandle } from '../../../server/nodes/janus/wire/janus-handle.ts'
import type { Jsep } from '../../../server/nodes/janus/wire/janus-socket.ts'
import { whenGathered } from '../media/answered-offer.ts'

const payloadType = 96
const everyMs = 20
const patienceMs = 10_000

/** A WebRTC peer of one handle: it sends an empty picture, or counts the packets that it receives. */
export class JanusPeer implements Disposable {
  readonly #connection: PeerConnection
  readonly #tracks: Track[] = []
  #timer: NodeJS.Timeout | undefined
  #sequence = 0
  /** Candidates that arrived before their description. */
  #early: string[] | undefined = []
  /** Packets sent or received. */
  packets = 0

  private constructor(name: string) {
    this.#connection = new ndc.PeerConnection(name, { iceServers: [], disableAutoNegotiation: true })
  }

  /** Sends a picture as the participant of the handle. Resolves when Janus accepts it. @throws JanusError */
  static async publish(handle: JanusHandle): Promise<JanusPeer> {
    const peer = new JanusPeer('publisher')
    const video = new ndc.Video('0', 'SendOnly')
    video.addVP8Codec(payloadType)
    video.addSSRC(7, 'peer', 'peer', 'video')
    const track = peer.#connection.addTrack(video)
    peer.#tracks.push(track)
    const up = heard(handle, ({ type }) => type === 'webrtcup')
    peer.#follow(handle)
    const offer = await peer.#describe('offer')
    const { jsep } = await handle.request({ request: 'publish' }, AbortSignal.timeout(patienceMs), offer)
    peer.#meet('answer', jsep)
    await up
    peer.#timer = setInterval(() => peer.#send(track), everyMs)
    return peer
  }

  /** Watches the streams of the join request. @throws JanusError */
  static async subscribe(handle: JanusHandle, join: Readonly<Record<string, unknown>>): Promise<JanusPeer> {
    const peer = new JanusPeer('subscriber')
    peer.#follow(handle)
    const { jsep } = await handle.request(join, AbortSignal.timeout(patienceMs))
    peer.#connection.onTrack((track) => {
      peer.#tracks.push(track)
      track.onMessage(() => {
        peer.packets += 1
      })
    })
    peer.#meet('offer', jsep)
    const answer = await peer.#describe('answer')
    await handle.request({ request: 'start' }, AbortSignal.timeout(patienceMs), answer)
    return peer
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    for (const track of this.#tracks) track.close()
    this.#connection.close()
  }

  async #describe(type: 'offer' | 'answer'): Promise<Jsep> {
    const gathered = whenGathered(this.#connection)
    this.#connection.setLocalDescription(type)
    await gathered
    return { type, sdp: this.#connection.localDescription()?.sdp ?? '' }
  }

  #meet(type: 'offer' | 'answer', jsep: Jsep | undefined): void {
    this.#connection.setRemoteDescription(jsep?.sdp ?? '', type)
    for (const candidate of this.#early ?? []) this.#connection.addRemoteCandidate(candidate, '0')
    this.#early = undefined
  }

  #follow(handle: JanusHandle): void {
    handle.onEvent((event) => {
      if (event.type !== 'trickle' || event.candidate.candidate === undefined) return
      if (this.#early === undefined) this.#connection.addRemoteCandidate(event.candidate.candidate, '0')
      else this.#early.push(event.candidate.candidate)
    })
  }

  #send(track: Track): void {
    const packet = Buffer.alloc(200)
    packet[0] = 0x80
    packet[1] = 0x80 | payloadType
    packet.writeUInt16BE((this.#sequence += 1) & 0xffff, 2)
    packet.writeUInt32BE(this.#sequence * 90 * everyMs, 4)
    packet.writeUInt32BE(7, 8)
    // Start of a partition (RFC 7741, section 4.2) of a key frame.
    packet[12] = 0x10
    if (!track.isOpen()) return
    track.sendMessageBinary(packet)
    this.packets += 1
  }
}

async function heard(handle: JanusHandle, wanted: (event: HandleEvent) => boolean): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(() => reject(new Error('Janus did not take the peer')), patienceMs)
  const stop = handle.onEvent((event) => {
    if (wanted(event)) resolve()
  })
  await promise.finally(() => {
    clearTimeout(timer)
    stop()
  })
}
