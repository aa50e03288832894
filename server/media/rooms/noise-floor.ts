import { silentLevel } from '../rtp/audio-level.ts'

/** Parts that the last seconds are cut into, and samples of each part. */
const maxParts = 3
const partSamples = 10

/** Quietest moment of one voice in its last seconds: speech has pauses, noise has none. */
export class NoiseFloor {
  /** Quietest level of each part, the latest first. */
  readonly #parts: number[] = []
  #samples = 0
  /** In -dBov; 0, the loudest, before the first sample. */
  level = 0

  /** @param quietest level since the last sample, in -dBov; -1: nothing came, so that the sender is silent */
  sample(quietest: number): void {
    const level = quietest < 0 ? silentLevel : quietest
    if (this.#samples % partSamples === 0) {
      this.#parts.unshift(level)
      this.#parts.length = Math.min(maxParts, this.#parts.length)
    } else this.#parts[0] = Math.max(this.#parts[0] ?? 0, level)
    this.#samples += 1
    this.level = Math.max(...this.#parts)
  }
}
