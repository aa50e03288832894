import type { ClockPoint } from '../rtp/rtcp.ts'

/** Format of a track as its source sends it, before any conversion. */
export interface RawFormat {
  /** RTP encoding name in upper case, e.g. `H264`. */
  codec: string
  /** Clock rate of the timestamps, in Hz. */
  clockRate: number
  channels: number
  /** Format parameters of the SDP, with names in lower case. */
  parameters: ReadonlyMap<string, string>
}

/** Receiver of a track as its source sends it, in order of arrival. */
export interface RawSink {
  /**
   * @param packet RTP packet; after the call, the feed may change the header, but not the payload
   * @param arrivedAt time when the source sent the packet, in milliseconds of a monotonic clock; omitted: now
   */
  rtp(packet: Buffer, arrivedAt?: number): void
  report(point: ClockPoint): void
  /** Called when another method threw an unexpected error. The sink is removed; the media continues. */
  failed(error: unknown): void
}

/**
 * Access to a track as its source sends it, e.g. for recording. The track is converted only if its own format cannot be
 * recorded.
 */
export class RawTap {
  /** Format of the track; undefined: the source has no such track. */
  format: RawFormat | undefined
  /**
   * Returns the packets since the last key frame, so that a recording begins with the GOP that viewers see. The packets
   * are numbered as if they had arrived just before the next packet, and must not be changed. Returns an empty list if
   * the source can send a key frame on request.
   */
  recent: () => readonly Buffer[] = () => []
  /**
   * Starts a conversion of the source for the sinks and returns a function that stops it; undefined if the media is not
   * converted.
   */
  hold: (() => () => void) | undefined
  #release: (() => void) | undefined
  readonly #sinks: RawSink[] = []
  /** Last sender report, for sinks added later. */
  #report: ClockPoint | undefined

  /** Whether the sinks receive converted media, because the source's format cannot be recorded. */
  get isConverted(): boolean {
    return this.hold !== undefined
  }

  add(sink: RawSink): void {
    this.#sinks.push(sink)
    this.#release ??= this.hold?.()
    if (this.#report !== undefined) sink.report(this.#report)
  }

  remove(sink: RawSink): void {
    const at = this.#sinks.indexOf(sink)
    if (at >= 0) this.#sinks.splice(at, 1)
    if (this.#sinks.length > 0) return
    this.#release?.()
    this.#release = undefined
  }

  /** Sends an RTP packet of the source to all sinks. @param arrivedAt see `RawSink.rtp` */
  push(packet: Buffer, arrivedAt?: number): void {
    for (const sink of this.#sinks) {
      try {
        sink.rtp(packet, arrivedAt)
      } catch (error) {
        this.#removeFailed(sink, error)
      }
    }
  }

  /** Sends a sender report of the source to all sinks. */
  report(point: ClockPoint): void {
    this.#report = point
    for (const sink of this.#sinks) {
      try {
        sink.report(point)
      } catch (error) {
        this.#removeFailed(sink, error)
      }
    }
  }

  #removeFailed(sink: RawSink, error: unknown): void {
    this.remove(sink)
    sink.failed(error)
  }
}
