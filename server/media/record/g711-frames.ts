import { payloadOf, timestampOf } from '../rtp/packet.ts'
import type { FrameAssembly } from '../transcode/frame-assembly.ts'
import { flacFrame, flacSamples } from './flac-encoder.ts'
import type { AssembledSound } from './track-format.ts'

/** Linear samples of the codes of G.711 (ITU-T G.711, tables 1 and 2), in 16 bits. */
const linear = {
  PCMU: Int16Array.from({ length: 256 }, (_, code) => {
    const bits = ~code & 0xff
    const magnitude = ((((bits & 0x0f) << 3) + 0x84) << ((bits & 0x70) >> 4)) - 0x84
    return (bits & 0x80) === 0 ? magnitude : -magnitude
  }),
  PCMA: Int16Array.from({ length: 256 }, (_, code) => {
    const bits = code ^ 0x55
    const segment = (bits & 0x70) >> 4
    const base = ((bits & 0x0f) << 4) + 8
    const magnitude = segment === 0 ? base : (base + 0x100) << (segment - 1)
    return (bits & 0x80) === 0 ? -magnitude : magnitude
  }),
} as const

/** Duration of a frame at 8 kHz, in milliseconds. */
export const g711FrameMs = (flacSamples * 1_000) / 8_000

/** Silence of one frame. */
export const flacSilence = flacFrame(new Int16Array(flacSamples), 0)

/** Sound of G.711 as FLAC: nothing of it is lost, and unlike G.711 every browser plays it from a file. */
export class G711Frames implements FrameAssembly {
  readonly #linear: Int16Array
  readonly #take: (sound: AssembledSound) => void
  readonly #samples = new Int16Array(flacSamples)
  #count = 0
  #number = 0
  /** Timestamp of the first sample, and of the one that follows the last. */
  #first = 0
  #next = -1

  constructor(codec: 'PCMU' | 'PCMA', take: (sound: AssembledSound) => void) {
    this.#linear = linear[codec]
    this.#take = take
  }

  push(packet: Buffer): void {
    const timestamp = timestampOf(packet)
    const payload = payloadOf(packet)
    // The samples left before a gap are shorter than a frame.
    if (timestamp !== this.#next) this.#count = 0
    for (let i = 0; i < payload.length; i++) {
      if (this.#count === 0) this.#first = (timestamp + i) >>> 0
      this.#samples[this.#count] = this.#linear[payload[i] ?? 0] ?? 0
      this.#count += 1
      if (this.#count === flacSamples) this.#send()
    }
    this.#next = (timestamp + payload.length) >>> 0
  }

  #send(): void {
    const data = flacFrame(this.#samples, this.#number)
    this.#number += 1
    this.#count = 0
    this.#take({ timestamp: this.#first, data, durationMs: g711FrameMs })
  }
}
