import type { RawFormat, RawSink, RawTap } from '../feeds/raw-tap.ts'
import type { ClockPoint } from '../rtp/rtcp.ts'
import { timestampOf } from '../rtp/packet.ts'
import type { FrameAssembly } from '../transcode/frame-assembly.ts'
import { PacketSequence } from '../transcode/packet-sequence.ts'
import { pictureAssembly } from './picture-assembly.ts'
import type { Segmenter } from './segmenter.ts'
import { soundAssembly } from './sound-assembly.ts'

/**
 * Maximum number of packets held behind a gap, until a browser has repeated a lost packet or a late UDP packet arrives.
 */
const maxWaiting = { picture: 256, sound: 5 } as const

/** Maximum time that packets are held, in milliseconds. */
const maxWaitMs = 800

interface InputOptions {
  segmenter: Segmenter
  /** Milliseconds of a monotonic clock. */
  now: () => number
  /** Returns whether a host has muted the track. Packets of a muted track are not recorded. */
  isMuted: () => boolean
  failed: (error: unknown) => void
}

/** Passes one track from its source to the segmenter. */
export class TrackInput implements RawSink {
  readonly #kind: 'picture' | 'sound'
  readonly #tap: RawTap
  readonly #options: InputOptions
  readonly #sequence: PacketSequence
  readonly #assembly: FrameAssembly
  #wasMuted = false
  /** Time when the source sent the current packet, in milliseconds of a monotonic clock. */
  #arrivedAt: number

  private constructor(kind: 'picture' | 'sound', tap: RawTap, assembly: FrameAssembly, options: InputOptions) {
    this.#kind = kind
    this.#tap = tap
    this.#options = options
    this.#assembly = assembly
    this.#arrivedAt = options.now()
    this.#sequence = new PacketSequence(maxWaiting[kind], (packet) => this.#assembly.push(packet), {
      keep: (packet) => Buffer.from(packet),
      maxMs: maxWaitMs,
      now: options.now,
    })
    tap.add(this)
  }

  /** Creates the input of a tap's picture. Returns undefined if its codec is not recorded. */
  static picture(tap: RawTap, format: RawFormat, options: InputOptions): TrackInput | undefined {
    const { segmenter, now } = options
    const assembly = pictureAssembly(format, ({ timestamp, frame, key, leads = false, format: picture }) => {
      const at = now()
      const ticks = segmenter.received('picture', timestamp, at)
      segmenter.picture({ ticks, data: frame, key, leads, format: picture }, at)
    })
    if (assembly === undefined) return undefined
    const input = new TrackInput('picture', tap, assembly, options)
    if (!options.isMuted()) for (const packet of tap.recent()) input.rtp(packet)
    return input
  }

  /** Creates the input of a tap's sound. Returns undefined if its codec is not recorded. */
  static sound(tap: RawTap, format: RawFormat, options: InputOptions): TrackInput | undefined {
    const { segmenter, now } = options
    const sound = soundAssembly(format, ({ timestamp, data, durationMs }) => {
      const ticks = segmenter.received('sound', timestamp, input === undefined ? now() : input.#arrivedAt)
      segmenter.sound({ ticks, data, durationMs }, now())
    })
    const input = sound && new TrackInput('sound', tap, sound.assembly, options)
    return input
  }

  rtp(packet: Buffer, arrivedAt?: number): void {
    const { segmenter, now, isMuted } = this.#options
    this.#arrivedAt = arrivedAt ?? now()
    const muted = isMuted()
    if (muted && this.#kind === 'picture' && !this.#wasMuted) segmenter.endPicture()
    if (this.#wasMuted && !muted) this.#sequence.restart()
    this.#wasMuted = muted
    if (!muted) return this.#sequence.push(packet)
    // Keeps the muted track alive, so that silence replaces its sound.
    if (this.#kind === 'sound') segmenter.received('sound', timestampOf(packet), now())
  }

  report(point: ClockPoint): void {
    this.#options.segmenter.reported(this.#kind, point)
  }

  failed(error: unknown): void {
    this.#options.failed(error)
  }

  close(): void {
    this.#tap.remove(this)
  }
}
