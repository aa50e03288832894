import { randomInt } from 'node:crypto'
import ndc, { type Track } from 'node-datachannel'
import type { Feed, Sink } from '../feeds/feed.ts'
import { Problem } from '../problem.ts'
import { address, isRtcp, timestampOf } from '../rtp/packet.ts'
import { asksForKeyFrame, senderReport } from '../rtp/rtcp.ts'
import { audioCodecFor, type Offer, type OfferedCodec, type OfferedMedia, videoCodecFor } from './offer.ts'
import { Peer, type PeerSettings } from './peer.ts'
import { silentSection } from './silent-section.ts'

/** Packets kept for viewers that ask again. */
const history = 512
/** Timestamp ticks between the pictures of the opening burst: the browser shows the last one at once. */
const burstTicks = 90
/** A viewer that was sent something and has reported nothing for so long is gone, in milliseconds. */
const silenceMs = 10_000

/** What one direction of a viewer sends with. */
interface Outgoing {
  kind: 'video' | 'audio'
  track: Track
  payloadType: number
  ssrc: number
  packets: number
  octets: number
}

/** One browser that watches one feed (WHEP). */
export class Viewer implements Sink {
  readonly peer: Peer
  readonly #feed: Feed
  #video: Outgoing | undefined
  #audio: Outgoing | undefined
  #started = false
  #waiting = true
  #heardAt = Date.now()
  #sentSince = false

  /** @param onClosed told once when it ends, for whatever reason */
  constructor(feed: Feed, settings: PeerSettings, onClosed: () => void) {
    this.#feed = feed
    this.peer = new Peer('viewer', settings, () => {
      this.#feed.remove(this)
      onClosed()
    })
  }

  /**
   * The answer to the browser's offer; packets flow as soon as it has connected.
   * @throws Problem codec, badOffer
   */
  async answer(offer: Offer): Promise<string> {
    try {
      for (const media of offer.media) this.#addSection(media)
      if (
        this.#video === undefined &&
        this.#feed.video !== undefined &&
        offer.media.some(({ kind }) => kind === 'video')
      ) {
        throw new Problem('codec', `The viewer does not take ${this.#feed.video.codec}, which the stream is sent in.`)
      }
      if (this.#video === undefined && this.#audio === undefined) throw new Problem('codec')
    } catch (error) {
      this.peer.close()
      throw error
    }
    const opened = this.#video ?? this.#audio
    opened?.track.onOpen(() => this.#start())
    const answer = await this.peer.answer(offer)
    if (opened?.track.isOpen()) this.#start()
    return answer
  }

  video(packet: Buffer): void {
    const out = this.#video
    if (out === undefined) return
    if (this.#waiting) {
      if (timestampOf(packet) !== this.#feed.entryTimestamp) return
      this.#waiting = false
    }
    this.#send(out, packet)
  }

  audio(packet: Buffer): void {
    if (this.#audio !== undefined) this.#send(this.#audio, packet)
  }

  report(now: number): void {
    if (this.#sentSince && now - this.#heardAt > silenceMs) {
      this.peer.close()
      return
    }
    for (const out of [this.#video, this.#audio]) {
      if (out === undefined || out.packets === 0) continue
      const clock = this.#feed.clock(out.kind, now)
      if (clock !== undefined)
        this.#sendRaw(out, senderReport(out.ssrc, clock.ntp, clock.timestamp, out.packets, out.octets))
    }
  }

  ended(): void {
    this.peer.close()
  }

  close(): void {
    this.peer.close()
  }

  #addSection(media: OfferedMedia): void {
    const codec = this.#wanted(media)
    if (codec === undefined) {
      // Left out, the answer would offer every codec of it.
      this.peer.addTrack(silentSection(media), () => {})
      return
    }
    const ssrc = randomInt(1, 2 ** 31)
    const section = sectionFor(media, codec)
    section.addSSRC(ssrc, 'roomdesk', 'roomdesk', media.kind)
    const track = this.peer.addTrack(section, (message) => this.#heard(message))
    track.setMediaHandler(new ndc.RtcpNackResponder(history))
    const out: Outgoing = { kind: media.kind, track, payloadType: codec.payloadType, ssrc, packets: 0, octets: 0 }
    if (media.kind === 'video') this.#video = out
    else this.#audio = out
  }

  #wanted(media: OfferedMedia): OfferedCodec | undefined {
    if (media.direction === 'sendonly' || media.direction === 'inactive') return undefined
    const { video, audio } = this.#feed
    if (media.kind === 'video') {
      return video === undefined || this.#video !== undefined ? undefined : videoCodecFor(media, video)
    }
    return audio === undefined || this.#audio !== undefined ? undefined : audioCodecFor(media, audio)
  }

  #heard(message: Buffer): void {
    if (!isRtcp(message)) return
    this.#heardAt = Date.now()
    this.#sentSince = false
    if (asksForKeyFrame(message)) this.#feed.requestKeyFrame()
  }

  /** Connected: the pictures since the last key frame at once, then what comes. */
  #start(): void {
    if (this.#started || this.peer.closed) return
    this.#started = true
    this.#heardAt = Date.now()
    const { group } = this.#feed
    if (this.#video !== undefined && group.length > 0) this.#burst(this.#video, group)
    else if (this.#video !== undefined) this.#feed.requestKeyFrame()
    // The burst may have found it closed.
    if (!this.peer.closed) this.#feed.add(this)
  }

  #burst(out: Outgoing, group: readonly Buffer[]): void {
    this.#waiting = false
    const pictures = new Set(group.map(timestampOf)).size
    const live = timestampOf(group[group.length - 1] ?? emptyPacket)
    let picture = -1
    let previous = -1
    for (const packet of group) {
      const timestamp = timestampOf(packet)
      if (timestamp !== previous) picture += 1
      previous = timestamp
      const copy = Buffer.from(packet)
      copy.writeUInt32BE((live - (pictures - 1 - picture) * burstTicks) >>> 0, 4)
      this.#send(out, copy)
    }
  }

  #send(out: Outgoing, packet: Buffer): void {
    address(packet, out.payloadType, out.ssrc)
    out.packets += 1
    out.octets += packet.length - 12
    this.#sentSince = true
    this.#sendRaw(out, packet)
  }

  #sendRaw(out: Outgoing, packet: Buffer): void {
    if (this.peer.closed) return
    try {
      // It says false while the track is not open yet, and copies the packet otherwise.
      out.track.sendMessageBinary(packet)
    } catch {
      if (!out.track.isOpen() && this.#started && out.track.isClosed()) this.peer.close()
    }
  }
}

const emptyPacket = Buffer.alloc(12)

function sectionFor({ kind, mid }: OfferedMedia, { payloadType, name, parameters }: OfferedCodec) {
  if (kind === 'audio') {
    const audio = new ndc.Audio(mid, 'SendOnly')
    if (name === 'OPUS') audio.addOpusCodec(payloadType, parameters === '' ? undefined : parameters)
    else audio.addAudioCodec(payloadType, name)
    return audio
  }
  const video = new ndc.Video(mid, 'SendOnly')
  if (name === 'H264') video.addH264Codec(payloadType, parameters)
  else if (name === 'VP8') video.addVP8Codec(payloadType)
  else video.addVideoCodec(payloadType, name, parameters === '' ? undefined : parameters)
  return video
}
