import { GopCache } from '../feeds/kept-video.ts'
import { DecodingEntries, h265Content, keyFrame, type PacketContent } from '../rtp/key-frame.ts'
import { timestampOf } from '../rtp/packet.ts'
import type { RtspTrack } from '../rtsp/description.ts'
import { outputTicks } from './converted-packets.ts'
import type { FrameAssembly, SourceFrame } from './frame-assembly.ts'
import { PacketSequence } from '../rtp/packet-sequence.ts'
import type { SourceTrack } from './source-track.ts'

/**
 * Difference between a timestamp and the clock above which the timestamps have jumped, in milliseconds: the camera
 * restarted, or its clock was set.
 */
const maxOff = 5_000

/** Maximum number of packets held behind a gap: a picture has many packets, sound has one packet per 20 ms or more. */
const maxWaiting = { video: 64, audio: 3 } as const

/** A frame with its presentation time on the track's clock, in milliseconds. */
export interface TimedFrame extends Omit<SourceFrame, 'timestamp'> {
  at: number
}

/** A frame that can be decoded by itself. */
export interface DecodedKeyFrame {
  frame: Buffer
  /** Time of arrival, in milliseconds since the epoch. */
  at: number
}

/**
 * Track that is converted while it has viewers. Without viewers, it keeps only the packets that the next picture
 * requires.
 */
export class ConvertedInput {
  readonly source: SourceTrack
  readonly clock: SourceClock
  readonly #kind: 'video' | 'audio'
  readonly #sequence: PacketSequence
  readonly #contentOf: ((packet: Buffer) => PacketContent) | undefined
  readonly #gop: GopCache | undefined
  #assembly: FrameAssembly | undefined
  #stillAssembly: FrameAssembly | undefined
  #keyFrameAt = 0

  constructor({ kind, clockRate }: RtspTrack, source: SourceTrack) {
    this.#kind = kind
    this.source = source
    this.clock = new SourceClock(clockRate)
    this.#sequence = new PacketSequence(maxWaiting[kind], (packet) => this.#next(packet))
    if (source.pictures !== undefined) {
      const entries = new DecodingEntries()
      this.#contentOf = source.pictures === 'H265' ? h265Content : (packet) => entries.contentOf(packet)
      this.#gop = new GopCache()
    }
  }

  /**
   * Takes a packet of the track, and copies it.
   * @param now milliseconds of a monotonic clock
   */
  push(packet: Buffer, now: number): void {
    // Packets before a jump have unrelated times.
    if (this.clock.note(timestampOf(packet), now)) this.#gop?.clear()
    this.#sequence.push(Buffer.from(packet))
  }

  /**
   * Returns the output timestamp for a time on the track's clock. Timestamps of pictures continue the camera's
   * timestamps.
   */
  timestamp(at: number): number {
    const first = this.#kind === 'video' ? this.clock.first : 0
    return (first + Math.round(at * outputTicks[this.#kind])) >>> 0
  }

  /** Packets since the last key frame, in order; undefined for pictures that are decoded independently. */
  get group(): readonly Buffer[] | undefined {
    return this.#gop?.gathered
  }

  /** Emits the frames since the last key frame at once, and then further frames until `stop`. */
  start(take: (frame: TimedFrame) => void): void {
    const assembly = this.source.assembly(({ timestamp, ...frame }) => take({ ...frame, at: this.clock.at(timestamp) }))
    for (const packet of this.#gop?.packets ?? []) assembly.push(packet)
    this.#assembly = assembly
  }

  stop(): void {
    this.#assembly = undefined
  }

  /**
   * Emits one frame that can be decoded by itself. If pictures depend on previous pictures, emits the newest key frame
   * at once; undefined: there is none. Otherwise emits the next frame.
   * @returns a function that cancels the request
   */
  takeKeyFrame(take: (frame: DecodedKeyFrame | undefined) => void): () => void {
    if (this.#gop !== undefined) {
      take(this.#newestKeyFrame(this.#gop.packets))
      return () => {}
    }
    const stop = (): void => {
      if (this.#stillAssembly === assembly) this.#stillAssembly = undefined
    }
    const assembly = this.source.assembly(({ frame, key }) => {
      if (!key) return
      stop()
      take({ frame, at: Date.now() })
    })
    this.#stillAssembly = assembly
    return stop
  }

  #newestKeyFrame(gop: readonly Buffer[]): DecodedKeyFrame | undefined {
    const parts: Buffer[] = []
    let whole = false
    const assembly = this.source.assembly(({ frame, key }) => {
      // Parameter sets may arrive as a separate picture before the key frame.
      if (!whole) parts.push(frame)
      whole ||= key
    })
    for (const packet of gop) {
      if (whole) break
      assembly.push(packet)
    }
    return whole ? { frame: Buffer.concat(parts), at: this.#keyFrameAt } : undefined
  }

  #next(packet: Buffer): void {
    if (this.#contentOf !== undefined) {
      const content = this.#contentOf(packet)
      this.#gop?.add(packet, content)
      if ((content & keyFrame) !== 0) this.#keyFrameAt = Date.now()
    }
    this.#assembly?.push(packet)
    this.#stillAssembly?.push(packet)
  }
}

/** Clock of a track, in milliseconds since the first packet. The clock does not jump when the timestamps jump. */
export class SourceClock {
  readonly #ticksPerMs: number
  #timestamp = -1
  #first = 0
  #ticks = 0
  #arrivedAt = 0

  /** @param rate clock rate of the timestamps, in Hz */
  constructor(rate: number) {
    this.#ticksPerMs = rate / 1_000
  }

  /**
   * Records a packet. Returns whether its timestamp jumped, so that earlier timestamps are unrelated.
   * @param now milliseconds of a monotonic clock
   */
  note(timestamp: number, now: number): boolean {
    let jumped = false
    if (this.#timestamp >= 0) {
      const elapsed = (now - this.#arrivedAt) * this.#ticksPerMs
      const ahead = (timestamp - this.#timestamp) | 0
      jumped = Math.abs(ahead - elapsed) > maxOff * this.#ticksPerMs
      this.#ticks += jumped ? Math.max(1, Math.round(elapsed)) : ahead
    }
    if (this.#timestamp < 0) this.#first = timestamp
    this.#timestamp = timestamp
    this.#arrivedAt = now
    return jumped
  }

  get first(): number {
    return this.#first
  }

  /**
   * Returns the arrival time of media at a time of the track, on the clock of `note`. Extrapolates from the last
   * packet.
   */
  arrivalOf(at: number): number {
    return this.#arrivedAt + at - this.#ticks / this.#ticksPerMs
  }

  /** Returns the time of a timestamp near the last one. */
  at(timestamp: number): number {
    return (this.#ticks + ((timestamp - this.#timestamp) | 0)) / this.#ticksPerMs
  }
}
