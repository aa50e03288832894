import { GopCache } from '../feeds/gop-cache.ts'
import { type Content, h265Content, keyFrame } from '../rtp/key-frame.ts'
import { timestampOf } from '../rtp/packet.ts'
import { DecodingEntries } from '../rtp/recovery-points.ts'
import type { RtspTrack } from '../rtsp/description.ts'
import { outputTicks } from './converted-packets.ts'
import type { FrameAssembly, SourceFrame } from './frame-assembly.ts'
import { PacketSequence } from './packet-sequence.ts'
import type { SourceTrack } from './source-track.ts'

/** Distance of a timestamp from the clock after which it counts as restarted, in milliseconds: a camera that restarted, or whose clock was set. */
const maxOff = 5_000

/** Packets that wait behind a gap at most: a picture has many, sound one each 20 ms or more. */
const maxWaiting = { video: 64, audio: 3 } as const

/** A frame, with when it is shown by the track's clock, in milliseconds. */
export interface TimedFrame extends Omit<SourceFrame, 'timestamp'> {
  at: number
}

/** A frame that can be decoded by itself. */
export interface KeyFrame {
  frame: Buffer
  /** When it came, milliseconds since the epoch. */
  at: number
}

/** A track that is converted while somebody watches: until then no more is kept of it than what its next picture needs. */
export class ConvertedInput {
  readonly source: SourceTrack
  readonly clock: SourceClock
  readonly #kind: 'video' | 'audio'
  readonly #sequence: PacketSequence
  readonly #contentOf: ((packet: Buffer) => Content) | undefined
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
   * Takes a packet of the track, which stays the caller's.
   * @param now milliseconds of a clock that never goes back
   */
  push(packet: Buffer, now: number): void {
    // Packets before a jump belong to another time.
    if (this.clock.note(timestampOf(packet), now)) this.#gop?.clear()
    this.#sequence.push(Buffer.from(packet))
  }

  /** Timestamp of output for a moment of the track's clock: for pictures the camera's own. */
  timestamp(at: number): number {
    const first = this.#kind === 'video' ? this.clock.first : 0
    return (first + Math.round(at * outputTicks[this.#kind])) >>> 0
  }

  /** Packets since the last key frame, in order; undefined for pictures that need no others. */
  get group(): readonly Buffer[] | undefined {
    return this.#gop?.gathered
  }

  /** Gives out frames until `stop`, those since the last key frame at once. */
  start(take: (frame: TimedFrame) => void): void {
    const assembly = this.source.assembly(({ timestamp, ...frame }) => take({ ...frame, at: this.clock.at(timestamp) }))
    for (const packet of this.#gop?.packets ?? []) assembly.push(packet)
    this.#assembly = assembly
  }

  stop(): void {
    this.#assembly = undefined
  }

  /**
   * Gives out a frame that can be decoded by itself, once: of pictures that need others the newest, undefined while there is none; of the others the next one.
   * @returns what calls it off
   */
  takeKeyFrame(take: (frame: KeyFrame | undefined) => void): () => void {
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

  #newestKeyFrame(gop: readonly Buffer[]): KeyFrame | undefined {
    const parts: Buffer[] = []
    let whole = false
    const assembly = this.source.assembly(({ frame, key }) => {
      // Parameter sets may come as a picture of their own ahead of it.
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

/** The times of a track that never jump, whatever its timestamps do: milliseconds since its first packet. */
export class SourceClock {
  readonly #ticksPerMs: number
  #timestamp = -1
  #first = 0
  /** Ticks of the last packet. */
  #ticks = 0
  #arrivedAt = 0

  /** @param rate of the timestamps, in Hz */
  constructor(rate: number) {
    this.#ticksPerMs = rate / 1_000
  }

  /**
   * A packet came. Returns whether its timestamp jumped: others of before are of another time.
   * @param now milliseconds of a clock that never goes back
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

  /** Timestamp of its first packet. */
  get first(): number {
    return this.#first
  }

  /** Moment at which a time of the track came, or will come, by that of its last packet; of the clock of `note`. */
  arrivalOf(at: number): number {
    return this.#arrivedAt + at - this.#ticks / this.#ticksPerMs
  }

  /** The time of a timestamp that is near the last one. */
  at(timestamp: number): number {
    return (this.#ticks + ((timestamp - this.#timestamp) | 0)) / this.#ticksPerMs
  }
}
