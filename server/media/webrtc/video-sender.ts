import type { PacketLoan } from '../feeds/fan-out.ts'
import type { Feed } from '../feeds/feed.ts'
import { hasMarker, paddingPacket, timestampOf, writeSendTime } from '../rtp/packet.ts'
import { baseIndexOf, pictureIdAt, pictureIdOf, picturesAhead, shiftIdentifiers } from '../rtp/vp8.ts'
import type { LinkEstimate } from './link-estimate.ts'
import type { Outgoing } from './outgoing.ts'
import { Retransmission } from './retransmission.ts'
import { SentVideo, type RunTimes, type PacketRun } from './sent-video.ts'

/** Minimum number of ticks between two pictures: two streams may use the same timestamp for different moments. */
const minTicks = 90

/** Maximum share of numbers without a packet that is subtracted from a reported loss. */
const maxGaps = 0.9

/** Sends packets of several feeds to one viewer, including repeats, with continuous numbers and timestamps. */
export class VideoSender {
  readonly #out: Outgoing
  readonly #sendTimeId: number
  readonly #estimate: LinkEstimate
  /** Feed whose clock all timestamps follow: the first feed that was sent. */
  #reference: Feed | undefined
  readonly #sent = new SentVideo()
  readonly #retransmission = new Retransmission()
  #lastTimestamp = 0
  #betweenPictures = false
  #isVp8 = false
  readonly #vp8 = new Vp8Continuity()

  /**
   * @param sendTimeId the viewer's number of the send time extension; 0: not supported
   * @param estimate counts the sent packets
   */
  constructor(out: Outgoing, sendTimeId: number, estimate: LinkEstimate) {
    this.#out = out
    this.#sendTimeId = sendTimeId
    this.#estimate = estimate
  }

  set roundTrip(milliseconds: number) {
    this.#retransmission.roundTrip = milliseconds
  }

  /** Returns the moment `now` on the feeds' clock, for a sender report; undefined before the first packet. */
  clock(now: number): { ntp: number; timestamp: number } | undefined {
    return this.#reference?.clock('video').at(now)
  }

  /** Begins a run: the next packet comes from this feed with this sequence number. */
  begin(feed: Feed, sequence: number, times: RunTimes): void {
    this.#sent.begin(feed, sequence, times)
    this.#isVp8 = feed.video?.codec === 'VP8'
    this.#vp8.begin()
  }

  /**
   * Returns the shift that maps a feed's timestamps to the common clock. The shifted `timestamp` is later than the last
   * sent timestamp.
   */
  timesOf(feed: Feed, timestamp: number): RunTimes {
    this.#reference ??= feed
    const shift = feed === this.#reference ? 0 : feed.clock('video').ticksTo(this.#reference.clock('video'), Date.now())
    const ahead = (timestamp + shift - this.#lastTimestamp) | 0
    const tooLate = this.#out.begun && ahead < minTicks
    return { shift: tooLate ? shift + minTicks - ahead : shift, timestamps: undefined }
  }

  /** Sends a packet of the current run that the feed lends to each viewer in turn. */
  sendLent(packet: PacketLoan, sequence: number): void {
    const number = this.#sent.number(sequence)
    if (number >= 0) packet.lend(this.#writeAs, number)
  }

  /** Sends a packet of the current run. The packet is a copy that this sender may change. */
  send(packet: Buffer, sequence: number): void {
    const number = this.#sent.number(sequence)
    if (number >= 0) this.#writeAs(packet, number)
  }

  /**
   * Sends a packet under this number, with the times and identifiers of the run. A single function instance serves
   * all packets, because there are many.
   */
  readonly #writeAs = (packet: Buffer, number: number): void => {
    packet.writeUInt16BE(number, 2)
    this.#retransmission.sent(packet.length)
    this.#estimate.sent(packet.length)
    this.#betweenPictures = hasMarker(packet)
    const identifiers = this.#isVp8 ? pictureIdAt(packet) : -1
    if (identifiers >= 0) this.#vp8.apply(packet, identifiers, this.#sent.run)
    const { shift } = this.#sent
    this.#lastTimestamp = (timestampOf(packet) + shift) >>> 0
    if (shift !== 0) packet.writeUInt32BE(this.#lastTimestamp, 4)
    this.#write(packet)
  }

  /**
   * Takes the share of numbers, 0 to 1, that the viewer lost since its last report. Losses before the node are
   * subtracted.
   */
  onLoss(share: number, now: number): void {
    // The report and the gaps refer to slightly different periods. With much loss the difference is small.
    const gaps = Math.min(maxGaps, this.#sent.gapShare())
    this.#estimate.onLoss(Math.max(0, (share - gaps) / (1 - gaps)), now)
  }

  /**
   * Sends a missed packet again, within limits.
   * @param source current feed; packets of other feeds are not sent again
   */
  sendAgain(number: number, source: Feed | undefined, now: number): void {
    const run = this.#sent.runOf(number)
    // A packet that was not sent cannot be missed, and a request for a very old packet does not describe the current
    // link.
    if (run === undefined) return
    const packet = run.feed?.sentVideo((number - run.ahead) & 0xffff)
    // A packet that never reached the node was not lost on the viewer's link.
    if (packet === undefined && run.feed !== undefined) return
    this.#estimate.onMissing(number, now)
    if (run.feed !== undefined && run.feed !== source) return
    // For a padding packet only the number matters. The repeat is minimal, because the link may be full.
    const copy = packet === undefined ? paddingPacket(number, this.#lastTimestamp, 1) : Buffer.from(packet)
    if (!this.#retransmission.allows(number, copy.length, now)) return
    if (packet === undefined) return this.#writeAgain(copy, now)
    const timestamp = timestampOf(packet)
    copy.writeUInt16BE(number, 2)
    copy.writeUInt32BE(((run.timestamps?.get(timestamp) ?? timestamp) + run.shift) >>> 0, 4)
    const identifiers = run.feed?.video?.codec === 'VP8' ? pictureIdAt(copy) : -1
    if (identifiers >= 0) shiftIdentifiers(copy, identifiers, run.pictures, run.bases)
    this.#writeAgain(copy, now)
  }

  /**
   * Sends a padding packet to probe the link. Sends only between two pictures, because padding within a picture would
   * split the picture. Returns the packet's size in bytes; 0 if none was sent.
   */
  sendPadding(): number {
    if (!this.#betweenPictures) return 0
    const packet = paddingPacket(this.#sent.padding(), this.#lastTimestamp)
    this.#estimate.sent(packet.length)
    this.#write(packet)
    return packet.length
  }

  /** Handles the viewer's move to another network. */
  moved(): void {
    this.#retransmission.moved()
  }

  tick(now: number): void {
    this.#retransmission.tick(now)
  }

  /** Discards timestamps of squeezed pictures that are too old to be requested again. */
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

/** Keeps VP8 picture numbers (RFC 7741, section 4.2) continuous from one run to the next. */
class Vp8Continuity {
  #begins = false
  /** Picture number and base layer number of the last picture sent; -1 before the first. */
  #pictureId = -1
  #baseIndex = -1

  /** Records that the next packet is the first of its run. */
  begin(): void {
    this.#begins = true
  }

  /**
   * Writes the viewer's numbers into a packet, and stores their offsets in its run.
   * @param at offset of the packet's picture identifier
   */
  apply(packet: Buffer, at: number, run: PacketRun | undefined): void {
    if (this.#begins && run !== undefined && this.#pictureId >= 0) {
      run.pictures = this.#pictureId + 1 - pictureIdOf(packet, at)
      run.bases = this.#baseIndex + 1 - Math.max(0, baseIndexOf(packet, at))
    }
    this.#begins = false
    const { pictures = 0, bases = 0 } = run ?? {}
    if (pictures !== 0 || bases !== 0) shiftIdentifiers(packet, at, pictures, bases)
    const pictureId = pictureIdOf(packet, at)
    if (this.#pictureId >= 0 && picturesAhead(this.#pictureId, pictureId) <= 0) return
    this.#pictureId = pictureId
    this.#baseIndex = baseIndexOf(packet, at)
  }
}
