import type { Feed } from '../feeds/feed.ts'
import { hasMarker, timestampOf } from '../rtp/packet.ts'
import { paddingPacket } from '../rtp/padding.ts'
import { writeSendTime } from '../rtp/send-time.ts'
import { baseIndexOf, pictureIdAt, pictureIdOf, picturesAhead, shiftIdentifiers } from '../rtp/vp8-identifiers.ts'
import type { LinkEstimate } from './link-estimate.ts'
import type { Outgoing } from './outgoing.ts'
import { Retransmission } from './retransmission.ts'
import { SentVideo, type StretchTimes } from './sent-video.ts'

/** Timestamps of two streams may say the same of different moments: at least so many ticks lie between two pictures. */
const minTicks = 90

/** Where next to nothing came to the node, reports say nothing of what was sent. */
const maxGaps = 0.9

/** Sends packets of several feeds to one viewer, in numbers and times that go on without a break whichever feed they come from, and sends them again. */
export class VideoSender {
  readonly #out: Outgoing
  readonly #sendTimeId: number
  readonly #estimate: LinkEstimate
  /** Whose clock all timestamps follow: that of the first one that was sent. */
  #reference: Feed | undefined
  readonly #sent = new SentVideo()
  readonly #retransmission = new Retransmission()
  #lastTimestamp = 0
  #betweenPictures = false
  /** In VP8: the next packet is the first of its stretch; and the numbers of the last picture that was sent, -1 before one was. */
  #vp8 = false
  #begins = false
  #pictureId = -1
  #baseIndex = -1

  /**
   * @param sendTimeId the viewer's number of the send time; 0 when it does not know it
   * @param estimate told of what is sent
   */
  constructor(out: Outgoing, sendTimeId: number, estimate: LinkEstimate) {
    this.#out = out
    this.#sendTimeId = sendTimeId
    this.#estimate = estimate
  }

  set roundTrip(milliseconds: number) {
    this.#retransmission.roundTrip = milliseconds
  }

  /** The moment `now` for a sender report; undefined before the first packet. */
  clock(now: number): { ntp: number; timestamp: number } | undefined {
    return this.#reference?.clock('video').at(now)
  }

  /** The next packet is of this feed, and has this number in it. */
  begin(feed: Feed, sequence: number, times: StretchTimes): void {
    this.#sent.begin(feed, sequence, times)
    this.#vp8 = feed.video?.codec === 'VP8'
    this.#begins = true
  }

  /** Brings a feed's timestamps to the clock that all follow, and behind what was sent. */
  timesOf(feed: Feed, timestamp: number): StretchTimes {
    this.#reference ??= feed
    const shift = feed === this.#reference ? 0 : feed.clock('video').ticksTo(this.#reference.clock('video'), Date.now())
    const ahead = (timestamp + shift - this.#lastTimestamp) | 0
    const tooLate = this.#out.begun && ahead < minTicks
    return { shift: tooLate ? shift + minTicks - ahead : shift, timestamps: undefined }
  }

  /** Sends a packet of the stretch that was begun; it is as before when this returns, but for its number and send time. */
  send(packet: Buffer, sequence: number): void {
    const number = this.#sent.number(sequence)
    if (number < 0) return
    packet.writeUInt16BE(number, 2)
    this.#retransmission.sent(packet.length)
    this.#estimate.sent(packet.length)
    this.#betweenPictures = hasMarker(packet)
    const identifiers = this.#vp8 ? pictureIdAt(packet) : -1
    if (identifiers >= 0) this.#identify(packet, identifiers)
    const { shift } = this.#sent
    const timestamp = timestampOf(packet)
    this.#lastTimestamp = (timestamp + shift) >>> 0
    if (shift !== 0) packet.writeUInt32BE(this.#lastTimestamp, 4)
    this.#write(packet)
    // Others are sent the same packet.
    if (shift !== 0) packet.writeUInt32BE(timestamp, 4)
    if (identifiers >= 0) this.#shift(packet, identifiers, -1)
  }

  /** Its numbers go on from those of the stretch before. */
  #identify(packet: Buffer, at: number): void {
    const { stretch } = this.#sent
    if (this.#begins && stretch !== undefined && this.#pictureId >= 0) {
      stretch.pictures = this.#pictureId + 1 - pictureIdOf(packet, at)
      stretch.bases = this.#baseIndex + 1 - Math.max(0, baseIndexOf(packet, at))
    }
    this.#begins = false
    this.#shift(packet, at, 1)
    const pictureId = pictureIdOf(packet, at)
    if (this.#pictureId >= 0 && picturesAhead(this.#pictureId, pictureId) <= 0) return
    this.#pictureId = pictureId
    this.#baseIndex = baseIndexOf(packet, at)
  }

  #shift(packet: Buffer, at: number, direction: 1 | -1): void {
    const { pictures = 0, bases = 0 } = this.#sent.stretch ?? {}
    if (pictures !== 0 || bases !== 0) shiftIdentifiers(packet, at, direction * pictures, direction * bases)
  }

  /** The receiver lost such a share of the numbers since its last report, 0 to 1: what was lost before it came to the node does not count. */
  heardLost(share: number, now: number): void {
    // The report and what was sent are not quite of the same time: where much is lost that makes little difference.
    const gaps = Math.min(maxGaps, this.#sent.gapShare())
    this.#estimate.heardLost(Math.max(0, (share - gaps) / (1 - gaps)), now)
  }

  /** The receiver misses a packet: it is sent again, within bounds. @param source whose packets are sent now: those of no other are sent again */
  sendAgain(number: number, source: Feed | undefined, now: number): void {
    const stretch = this.#sent.stretchOf(number)
    // What was never sent cannot be missed, and what is long past says nothing of the link now.
    if (stretch === undefined) return
    const packet = stretch.feed?.sentVideo((number - stretch.ahead) & 0xffff)
    // What never came to the node was not lost on the way from it.
    if (packet === undefined && stretch.feed !== undefined) return
    this.#estimate.heardMissing(number, now)
    if (stretch.feed !== undefined && stretch.feed !== source) return
    // Of padding only the number is of use: the link may be full.
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

  /** Sends what holds nothing, to see what the link carries: between two pictures only, for it would tear one apart. Returns its bytes. */
  sendPadding(): number {
    if (!this.#betweenPictures) return 0
    const packet = paddingPacket(this.#sent.padding(), this.#lastTimestamp)
    this.#estimate.sent(packet.length)
    this.#write(packet)
    return packet.length
  }

  /** The receiver is on another network. */
  moved(): void {
    this.#retransmission.moved()
  }

  /** Once a second. */
  tick(now: number): void {
    this.#retransmission.tick(now)
  }

  /** Pictures with timestamps of their own are too old to be asked for again. */
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
