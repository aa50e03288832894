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
  /** @param packet RTP; its header is the feed's again when this returns, its payload stays as it is */
  rtp(packet: Buffer): void
  /** A sender report of the track. */
  report(point: ClockPoint): void
  /** One of the above threw an unexpected error: the sink receives nothing more, the media goes on. */
  failed(error: unknown): void
}

/** Place where a track can be received as its source sends it, e.g. to record it. Costs nothing while nobody does. */
export class RawTap {
  /** undefined: the source has no such track. */
  format: RawFormat | undefined
  /**
   * Packets since the last key frame, numbered as if they had come just before the next one: a recording begins with the group that viewers see. Nobody may change them. Left out:
   * the source can be asked for a key frame.
   */
  recent: () => readonly Buffer[] = () => []
  readonly #sinks: RawSink[] = []
  /** The last sender report, for those who come later. */
  #report: ClockPoint | undefined

  add(sink: RawSink): void {
    this.#sinks.push(sink)
    if (this.#report !== undefined) sink.report(this.#report)
  }

  remove(sink: RawSink): void {
    const at = this.#sinks.indexOf(sink)
    if (at >= 0) this.#sinks.splice(at, 1)
  }

  /** Passes on an RTP packet of the source. */
  push(packet: Buffer): void {
    for (const sink of this.#sinks) {
      try {
        sink.rtp(packet)
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
