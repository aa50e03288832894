import { randomInt } from 'node:crypto'
import type { Feed, Sink } from '../feeds/feed.ts'
import { Problem } from '../problem.ts'
import { type FeedbackListener, readFeedback, type ReceivedBlock } from '../rtp/feedback.ts'
import { isRtcp, sequenceOf, timestampOf } from '../rtp/packet.ts'
import { audioCodecFor, type Offer, type OfferedCodec, type OfferedMedia, videoCodecFor } from './offer.ts'
import { GopBurst } from './gop-burst.ts'
import { Outgoing } from './outgoing.ts'
import { Peer, type PeerSettings } from './peer.ts'
import { Retransmission } from './retransmission.ts'
import { carryingSection, silentSection } from './sections.ts'
import { SentVideo } from './sent-video.ts'

/** Packets of the burst at once, and milliseconds between: more would overflow socket buffers. */
const sliceLength = 128
const sliceEveryMs = 2
/**
 * The first packets are lost where the browser is not ready for them yet, and it cannot ask for what it does not know of: what it asks for is a key frame, which
 * a camera does not send on demand. So the burst is sent again as if it were new: in the first moments, at most so often, and not sooner than so many milliseconds after it was sent.
 */
const burstRepeats = 3
const burstRepeatMs = 150
const burstRepeatsUntilMs = 3_000
/** A viewer that was sent something and has reported nothing for so long is gone, in milliseconds. */
const stallMs = 10_000

/** One browser that watches one feed (WHEP). */
export class Viewer implements Sink, FeedbackListener {
  readonly peer: Peer
  readonly #feed: Feed
  #video: Outgoing | undefined
  #audio: Outgoing | undefined
  #started = false
  /** For a picture that can be decoded by itself. */
  #waiting = true
  #burst: GopBurst | undefined
  #repeatsLeft = burstRepeats
  #burstAt = 0
  #startedAt = 0
  readonly #sent = new SentVideo()
  readonly #retransmission = new Retransmission()
  /** When the first packet since the viewer's last word was sent; 0: it owes none. */
  #owedSince = 0
  #roundTrip = -1

  /** @param onClosed told once when it ends, for whatever reason */
  constructor(feed: Feed, settings: PeerSettings, onClosed: () => void) {
    this.#feed = feed
    this.peer = new Peer('viewer', settings, () => {
      this.#feed.remove(this)
      onClosed()
    })
    this.peer.onMoved = () => this.#moved()
  }

  /** Milliseconds, by the viewer's reports; -1 when unknown. */
  get roundTrip(): number {
    return this.#roundTrip
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
    opened?.track.onOpen(this.peer.lifetime.guard(() => this.#start()))
    const answer = await this.peer.answer(offer)
    if (opened?.track.isOpen()) this.#start()
    return answer
  }

  video(packet: Buffer, sequence: number): void {
    const out = this.#video
    // The burst takes it from the GOP.
    if (out === undefined || this.#burst !== undefined) return
    if (this.#waiting) {
      if (timestampOf(packet) !== this.#feed.entryTimestamp) return
      this.#waiting = false
      this.#sent.begin(this.#feed, sequence)
    }
    this.#sendVideo(out, packet, sequence)
  }

  audio(packet: Buffer): void {
    if (this.#audio !== undefined) this.#send(this.#audio, packet)
  }

  report(now: number): void {
    if (this.#owedSince !== 0 && now - this.#owedSince > stallMs) {
      this.peer.close()
      return
    }
    // The request, or the source's answer, may have been lost.
    if (this.#video !== undefined && this.#waiting && this.#burst === undefined) this.#feed.requestKeyFrame()
    for (const out of [this.#video, this.#audio]) {
      if (!out?.begun) continue
      const clock = this.#feed.clock(out.kind, now)
      if (clock !== undefined) out.report(clock, now)
    }
    const monotonic = performance.now()
    this.#retransmission.tick(monotonic)
    if (monotonic - this.#burstAt > burstRepeatsUntilMs) this.#sent.forgetTimestamps()
  }

  ended(): void {
    this.peer.close()
  }

  missing(ssrc: number, number: number): void {
    const out = this.#video
    if (out?.ssrc !== ssrc) return
    const stretch = this.#sent.stretchOf(number)
    const packet = stretch?.feed.sentVideo((number - stretch.ahead) & 0xffff)
    if (stretch === undefined || packet === undefined) return
    if (!this.#retransmission.allows(number, packet.length, performance.now())) return
    const copy = Buffer.from(packet)
    copy.writeUInt16BE(number, 2)
    copy.writeUInt32BE(stretch.timestamps?.get(timestampOf(packet)) ?? timestampOf(packet), 4)
    out.sendAgain(copy)
  }

  keyFrameWanted(): void {
    if (this.#video === undefined) return
    this.#feed.requestKeyFrame()
    this.#repeatBurst(this.#video)
  }

  bitrate(): void {
    // Nothing smaller could be sent.
  }

  block(block: ReceivedBlock): void {
    for (const out of [this.#video, this.#audio]) {
      const roundTrip = out?.roundTrip(block, Date.now())
      if (roundTrip === undefined) continue
      this.#roundTrip = roundTrip
      this.#retransmission.roundTrip = roundTrip
    }
  }

  failed(error: unknown): void {
    this.peer.fail(error)
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
    const section = carryingSection(media, codec, 'SendOnly')
    section.addSSRC(ssrc, 'roomdesk', 'roomdesk', media.kind)
    // No handler on the track: what a viewer asks for is answered from what the feed keeps for everybody.
    const track = this.peer.addTrack(section, (message) => this.#heard(message))
    const { payloadType } = codec
    const out = new Outgoing({ kind: media.kind, track, payloadType, ssrc, closed: () => this.peer.close() })
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
    this.#owedSince = 0
    readFeedback(message, this)
  }

  /** Connected: the pictures since the last key frame at once, then what comes. */
  #start(): void {
    if (this.#started || this.peer.closed) return
    this.#started = true
    this.#startedAt = performance.now()
    const { gop } = this.#feed
    if (this.#video !== undefined && gop.length > 0) {
      this.#beginBurst(this.#video, gop)
    } else if (this.#video !== undefined) this.#feed.requestKeyFrame()
    // The burst may have found it closed.
    if (!this.peer.closed) this.#feed.add(this)
  }

  #beginBurst(out: Outgoing, gop: readonly Buffer[]): void {
    const [first] = gop
    if (first === undefined) return
    this.#burst = new GopBurst(gop)
    this.#sent.begin(this.#feed, sequenceOf(first), this.#burst.timestamps)
    this.#burstAt = performance.now()
    this.#sendBurst(out, this.#burst)
  }

  /** On another network: what was sent to the old one is lost, and the browser takes seconds to say so. */
  #moved(): void {
    if (this.#video === undefined) return
    this.#repeatsLeft = burstRepeats
    this.#startedAt = performance.now()
    this.#feed.requestKeyFrame()
    if (this.#owedSince !== 0 && Date.now() - this.#owedSince > burstRepeatMs) this.#repeatBurst(this.#video)
  }

  #repeatBurst(out: Outgoing): void {
    const { gop } = this.#feed
    if (this.#burst !== undefined || this.#repeatsLeft === 0 || gop.length === 0) return
    const now = performance.now()
    if (now - this.#burstAt < burstRepeatMs || now - this.#startedAt > burstRepeatsUntilMs) return
    this.#repeatsLeft -= 1
    this.#beginBurst(out, gop)
  }

  #sendBurst(out: Outgoing, burst: GopBurst): void {
    const packets = burst.take(this.#feed.gop, sliceLength)
    for (const packet of packets ?? []) this.#sendVideo(out, packet, sequenceOf(packet))
    if (packets?.length === sliceLength && !this.peer.closed) {
      this.peer.lifetime.after(sliceEveryMs, () => this.#sendBurst(out, burst))
      return
    }
    this.#burst = undefined
    this.#waiting = packets === undefined
  }

  #sendVideo(out: Outgoing, packet: Buffer, sequence: number): void {
    const number = this.#sent.number(sequence)
    if (number < 0) return
    packet.writeUInt16BE(number, 2)
    this.#retransmission.sent(packet.length)
    this.#send(out, packet)
  }

  #send(out: Outgoing, packet: Buffer): void {
    if (this.peer.closed) return
    if (this.#owedSince === 0) this.#owedSince = Date.now()
    out.send(packet)
  }
}
