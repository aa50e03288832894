import type { ClockPoint } from '../rtp/rtcp.ts'

/** Format of a track as its source sends it, before anything is converted. */
export interface RawFormat {
  /** As RTP names it, in upper case, e.g. `H264`. */
  codec: string
  /** Clock rate of the timestamps, in Hz. */
  clockRate: number
  channels: number
  /** Format parameters of the SDP, names in lower case. */
  parameters: ReadonlyMap<string, string>
}

/** Receives a track as its source sends it, in order of arrival. */
export interface RawSink {
  /**
   * @param packet RTP; its header is the feed's again when this returns, its payload stays as it is
   * @param arrivedAt moment at which the source sent it, of a clock that never goes back; left out: now
   */
  rtp(packet: Buffer, arrivedAt?: number): void
  /** A sender report of the track. */
  report(point: ClockPoint): void
  /** One of the above threw an unexpected error: the sink receives nothing more, the media goes on. */
  failed(error: unknown): void
}

/** Place where a track can be received as its source sends it, e.g. to record it; converted only if it could not be. Costs nothing while nobody does. */
export class RawTap {
  /** undefined: the source has no such track. */
  format: RawFormat | undefined
  /**
   * Packets since the last key frame, numbered as if they had come just before the next one: a recording begins with the group that viewers see. Nobody may change them. Left out:
   * the source can be asked for a key frame.
   */
  recent: () => readonly Buffer[] = () => []
  /** Has the source converted while somebody receives it, and returns what ends that; undefined: its media comes as it is. */
  hold: (() => () => void) | undefined
  #release: (() => void) | undefined
  readonly #sinks: RawSink[] = []
  /** The last sender report, for those who come later. */
  #report: ClockPoint | undefined

  /** What is received here was converted: its source's format cannot be recorded. */
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

  /** Passes on an RTP packet of the source. @param arrivedAt see `RawSink.rtp` */
  push(packet: Buffer, arrivedAt?: number): void {
    for (const sink of this.#sinks) {
      try {
        sink.rtp(packet, arrivedAt)
      } catch (error) {
        this.#drop(sink, error)
      }
    }
  }

  /** Passes on a sender report of the source. */
  report(point: ClockPoint): void {
    this.#report = point
    for (const sink of this.#sinks) {
      try {
        sink.report(point)
      } catch (error) {
        this.#drop(sink, error)
      }
    }
  }

  #drop(sink: RawSink, error: unknown): void {
    this.remove(sink)
    sink.failed(error)
  }
}
