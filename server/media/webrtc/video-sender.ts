import type { Feed } from '../feeds/feed.ts'
import { hasMarker, timestampOf } from '../rtp/packet.ts'
import { paddingBytes, paddingPacket } from '../rtp/padding.ts'
import { writeSendTime } from '../rtp/send-time.ts'
import type { LinkEstimate } from './link-estimate.ts'
import type { Outgoing } from './outgoing.ts'
import { Retransmission } from './retransmission.ts'
import { SentVideo, type StretchTimes } from './sent-video.ts'

/** Timestamps of two streams may say the same of different moments: at least so many ticks lie between two pictures. */
const leastTicks = 90

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
    return this.#reference?.clock('video', now)
  }

  /** The next packet is of this feed, and has this number in it. */
  begin(feed: Feed, sequence: number, times: StretchTimes): void {
    this.#sent.begin(feed, sequence, times)
  }

  /** Brings a feed's timestamps to the clock that all follow, and behind what was sent. */
  timesOf(feed: Feed, timestamp: number): StretchTimes {
    this.#reference ??= feed
    const shift = feed === this.#reference ? 0 : feed.ticksTo(this.#reference, Date.now())
    const ahead = (timestamp + shift - this.#lastTimestamp) | 0
    const tooLate = this.#out.begun && ahead < leastTicks
    return { shift: tooLate ? shift + leastTicks - ahead : shift, timestamps: undefined }
  }

  /** Sends a packet of the stretch that was begun; it is as before when this returns, but for its number and send time. */
  send(packet: Buffer, sequence: number): void {
    const number = this.#sent.number(sequence)
    if (number < 0) return
    packet.writeUInt16BE(number, 2)
    this.#retransmission.sent(packet.length)
    this.#estimate.sent(packet.length)
    this.#betweenPictures = hasMarker(packet)
    const { shift } = this.#sent
    const timestamp = timestampOf(packet)
    if (shift === 0) {
      this.#lastTimestamp = timestamp
      return this.#write(packet)
    }
    this.#lastTimestamp = (timestamp + shift) >>> 0
    packet.writeUInt32BE(this.#lastTimestamp, 4)
    this.#write(packet)
    // Others are sent the same packet.
    packet.writeUInt32BE(timestamp, 4)
  }

  /** Sends what was sent under a number again, within bounds. @param source whose packets are sent now: those of no other are sent again */
  sendAgain(number: number, source: Feed | undefined, now: number): void {
    const stretch = this.#sent.stretchOf(number)
    if (stretch === undefined) return
    if (stretch.feed !== undefined && stretch.feed !== source) return
    const packet = stretch.feed?.sentVideo((number - stretch.ahead) & 0xffff)
    if (packet === undefined && stretch.feed !== undefined) return
    const bytes = packet?.length ?? paddingBytes
    if (!this.#retransmission.allows(number, bytes, now)) return
    if (packet === undefined) return this.#writeAgain(paddingPacket(number, this.#lastTimestamp), now)
    const copy = Buffer.from(packet)
    const timestamp = timestampOf(packet)
    copy.writeUInt16BE(number, 2)
    copy.writeUInt32BE(((stretch.timestamps?.get(timestamp) ?? timestamp) + stretch.shift) >>> 0, 4)
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
