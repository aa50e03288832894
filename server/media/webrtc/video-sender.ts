import type { PacketLoan } from '../feeds/packet-loan.ts'
import type { Feed } from '../feeds/feed.ts'
import { hasMarker, timestampOf } from '../rtp/packet.ts'
import { paddingPacket } from '../rtp/padding.ts'
import { writeSendTime } from '../rtp/send-time.ts'
import { pictureIdAt, shiftIdentifiers, baseIndexOf, pictureIdOf, picturesAhead } from '../rtp/vp8-identifiers.ts'
import type { LinkEstimate } from './link-estimate.ts'
import type { Outgoing } from './outgoing.ts'
import { Retransmission } from './retransmission.ts'
import { SentVideo, type StretchTimes, type Stretch } from './sent-video.ts'

/** Ticks between two pictures, at least: two streams may give the same timestamp to different moments. */
const minTicks = 90

/** Share of numbers without a packet above which reports say nothing of the viewer's link. */
const maxGaps = 0.9

/** Sends packets of several feeds to one viewer, once and again, in one unbroken sequence of numbers and times. */
export class VideoSender {
  readonly #out: Outgoing
  readonly #sendTimeId: number
  readonly #estimate: LinkEstimate
  /** Feed whose clock all timestamps follow: the first one that was sent. */
  #reference: Feed | undefined
  readonly #sent = new SentVideo()
  readonly #retransmission = new Retransmission()
  #lastTimestamp = 0
  #betweenPictures = false
  /** Whether VP8 is sent now. */
  #isVp8 = false
  readonly #vp8 = new Vp8Continuity()

  /**
   * @param sendTimeId the viewer's number of the send time; 0 when it does not know it
   * @param estimate counts what is sent
   */
  constructor(out: Outgoing, sendTimeId: number, estimate: LinkEstimate) {
    this.#out = out
    this.#sendTimeId = sendTimeId
    this.#estimate = estimate
  }

  set roundTrip(milliseconds: number) {
    this.#retransmission.roundTrip = milliseconds
  }

  /** The moment `now` on the feeds' clock, for a sender report; undefined before the first packet. */
  clock(now: number): { ntp: number; timestamp: number } | undefined {
    return this.#reference?.clock('video').at(now)
  }

  /** Begins a stretch: the next packet is of this feed, and has this number in it. */
  begin(feed: Feed, sequence: number, times: StretchTimes): void {
    this.#sent.begin(feed, sequence, times)
    this.#isVp8 = feed.video?.codec === 'VP8'
    this.#vp8.begin()
  }

  /** Brings a feed's timestamps to the clock that all follow, and behind what was sent. */
  timesOf(feed: Feed, timestamp: number): StretchTimes {
    this.#reference ??= feed
    const shift = feed === this.#reference ? 0 : feed.clock('video').ticksTo(this.#reference.clock('video'), Date.now())
    const ahead = (timestamp + shift - this.#lastTimestamp) | 0
    const tooLate = this.#out.begun && ahead < minTicks
    return { shift: tooLate ? shift + minTicks - ahead : shift, timestamps: undefined }
  }

  /** Sends a packet of the stretch that was begun, which the feed lends to its viewers in turn. */
  sendLent(packet: PacketLoan, sequence: number): void {
    const number = this.#sent.number(sequence)
    if (number >= 0) packet.lend(this.#writeAs, number)
  }

  /** Sends a packet of the stretch that was begun: a copy, which is the sender's. */
  send(packet: Buffer, sequence: number): void {
    const number = this.#sent.number(sequence)
    if (number >= 0) this.#writeAs(packet, number)
  }

  /** Sends a packet under this number, with times and identifiers of the stretch. One function for all packets, because many are sent. */
  readonly #writeAs = (packet: Buffer, number: number): void => {
    packet.writeUInt16BE(number, 2)
    this.#retransmission.sent(packet.length)
    this.#estimate.sent(packet.length)
    this.#betweenPictures = hasMarker(packet)
    const identifiers = this.#isVp8 ? pictureIdAt(packet) : -1
    if (identifiers >= 0) this.#vp8.apply(packet, identifiers, this.#sent.stretch)
    const { shift } = this.#sent
    this.#lastTimestamp = (timestampOf(packet) + shift) >>> 0
    if (shift !== 0) packet.writeUInt32BE(this.#lastTimestamp, 4)
    this.#write(packet)
  }

  /** Notes the share of numbers, 0 to 1, that the viewer lost since its last report; losses before the node do not count. */
  onLoss(share: number, now: number): void {
    // The report and what was sent are not quite of the same time: where much is lost that makes little difference.
    const gaps = Math.min(maxGaps, this.#sent.gapShare())
    this.#estimate.onLoss(Math.max(0, (share - gaps) / (1 - gaps)), now)
  }

  /** Sends a packet again that the viewer misses, within bounds. @param source the feed that is sent now: packets of others are not sent again */
  sendAgain(number: number, source: Feed | undefined, now: number): void {
    const stretch = this.#sent.stretchOf(number)
    // An unsent packet cannot be missed, and a request for a very old one means nothing for the link now.
    if (stretch === undefined) return
    const packet = stretch.feed?.sentVideo((number - stretch.ahead) & 0xffff)
    // A packet that never reached the node was not lost behind it.
    if (packet === undefined && stretch.feed !== undefined) return
    this.#estimate.onMissing(number, now)
    if (stretch.feed !== undefined && stretch.feed !== source) return
    // Only the number of a padding packet matters: the link may be full.
    const copy = packet === undefined ? paddingPacket(number, this.#lastTimestamp, 1) : Buffer.from(packet)
    if (!this.#retransmission.allows(number, copy.length, now)) return
    if (packet === undefined) return this.#writeAgain(copy, now)
    const timestamp = timestampOf(packet)
    copy.writeUInt16BE(number, 2)
    copy.writeUInt32BE(((stretch.timestamps?.get(timestamp) ?? timestamp) + stretch.shift) >>> 0, 4)
    const identifiers = stretch.feed?.video?.codec === 'VP8' ? pictureIdAt(copy) : -1
    if (identifiers >= 0) shiftIdentifiers(copy, identifiers, stretch.pictures, stretch.bases)
    this.#writeAgain(copy, now)
  }

  /** Sends a packet of padding, to probe the link: between two pictures only, since it would split one. Returns its bytes; 0 when none was sent. */
  sendPadding(): number {
    if (!this.#betweenPictures) return 0
    const packet = paddingPacket(this.#sent.padding(), this.#lastTimestamp)
    this.#estimate.sent(packet.length)
    this.#write(packet)
    return packet.length
  }

  /** The viewer has moved to another network. */
  moved(): void {
    this.#retransmission.moved()
  }

  /** Once a second. */
  tick(now: number): void {
    this.#retransmission.tick(now)
  }

  /** Forgets timestamps of squeezed pictures, which are too old to be requested again. */
  forgetTimestamps(): void {
    this.#sent.forgetTimestamps()
  }

  #write(packet: Buffer): void {
    writeSendTime(packet, this.#sendTimeId, performance.now())
    this.#out.send(packet)
  }

  #writeAgain(packet: Buffer, now: number): void {
    writeSendTime(packet, this.#sendTimeId, now)
    this.#out.sendAgain(packet)
  }
}

/** Numbers of VP8 pictures (RFC 7741, section 4.2) that go on from one stretch to the next. */
class Vp8Continuity {
  #begins = false
  /** Numbers of the last picture that was sent; -1 before the first. */
  #pictureId = -1
  #baseIndex = -1

  /** Notes that the next packet is the first of its stretch. */
  begin(): void {
    this.#begins = true
  }

  /**
   * Writes the viewer's numbers into a packet, and notes in its stretch how far they are moved.
   * @param at offset of the packet's picture identifier
   */
  apply(packet: Buffer, at: number, stretch: Stretch | undefined): void {
    if (this.#begins && stretch !== undefined && this.#pictureId >= 0) {
      stretch.pictures = this.#pictureId + 1 - pictureIdOf(packet, at)
      stretch.bases = this.#baseIndex + 1 - Math.max(0, baseIndexOf(packet, at))
    }
    this.#begins = false
    const { pictures = 0, bases = 0 } = stretch ?? {}
    if (pictures !== 0 || bases !== 0) shiftIdentifiers(packet, at, pictures, bases)
    const pictureId = pictureIdOf(packet, at)
    if (this.#pictureId >= 0 && picturesAhead(this.#pictureId, pictureId) <= 0) return
    this.#pictureId = pictureId
    this.#baseIndex = baseIndexOf(packet, at)
  }
}
