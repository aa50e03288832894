import { eachReport, senderReportType } from '../rtp/rtcp.ts'
import type { RtspTrack } from './description.ts'
import { assumedClock } from './leniency.ts'

type ClockedTrack = Pick<RtspTrack, 'declaredClock'>

/**
 * Converts the timestamps of pictures from the clock that a camera declares to RTP's 90 kHz (RFC 3551, section 5).
 * Packets and reports of tracks with a 90 kHz clock are unchanged.
 */
export class DeclaredClocks {
  readonly #scales = new Map<ClockedTrack, TimestampScale>()

  /** Converts the timestamp of an RTP packet of at least 12 bytes, in place. */
  convertPacket(track: ClockedTrack, packet: Buffer): void {
    const scale = this.#scaleOf(track)
    if (scale !== undefined) packet.writeUInt32BE(scale.convert(packet.readUInt32BE(4)), 4)
  }

  /** Converts the timestamps of the sender reports in an RTCP packet, in place. */
  convertReports(track: ClockedTrack, packet: Buffer): void {
    const scale = this.#scaleOf(track)
    if (scale === undefined) return
    eachReport(packet, (type, _count, at, length) => {
      if (type !== senderReportType || length < 28) return
      packet.writeUInt32BE(scale.convert(packet.readUInt32BE(at + 16)), at + 16)
    })
  }

  #scaleOf(track: ClockedTrack): TimestampScale | undefined {
    if (track.declaredClock === undefined) return undefined
    const scale = this.#scales.get(track) ?? new TimestampScale(assumedClock.video / track.declaredClock)
    this.#scales.set(track, scale)
    return scale
  }
}

/** Multiplies 32-bit timestamps by a factor, across wraparounds. Equal timestamps stay equal. */
class TimestampScale {
  readonly #factor: number
  /** Last timestamp, extended beyond 32 bits; undefined before the first. */
  #last: number | undefined

  constructor(factor: number) {
    this.#factor = factor
  }

  convert(timestamp: number): number {
    const last = this.#last ?? timestamp
    // The shorter distance, forwards or backwards.
    const now = last + ((timestamp - last) | 0)
    this.#last = now
    return Math.round(now * this.#factor) >>> 0
  }
}
