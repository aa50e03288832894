/** Samples per second. */
export const sampleRate = 48_000
/** Number of interleaved channels. */
export const soundChannels = 2
/** Maximum number of samples kept; older unread samples are dropped. */
const maxSamples = 30 * sampleRate
/** Size of one sample of all channels in bytes, as 16-bit integers. */
const frameBytes = soundChannels * 2

/** Sound of one voice on the timeline shared by all voices: sample 0 is the epoch. */
export class SampleLine {
  readonly #pieces: { at: number; samples: Int16Array }[] = []

  /** Number of the last sample plus 1; -Infinity: no samples. */
  get end(): number {
    const last = this.#pieces.at(-1)
    return last === undefined ? -Infinity : last.at + last.samples.length / soundChannels
  }

  /** Adds sound. @param at number of the first added sample @param sound complete samples, 16-bit little-endian */
  add(at: number, sound: Buffer): void {
    const samples = new Int16Array(sound.length / 2)
    Buffer.from(samples.buffer).set(sound)
    this.#pieces.push({ at, samples })
    this.forget(at - maxSamples)
  }

  /**
   * Adds the existing samples of a span to a sum of floats between -1 and 1.
   * @param from number of the first sample of the sum
   */
  addTo(sum: Float32Array, from: number): void {
    for (const { at, samples } of this.#pieces) {
      const shift = (at - from) * soundChannels
      const first = Math.max(0, -shift)
      const end = Math.min(samples.length, sum.length - shift)
      for (let index = first; index < end; index += 1) {
        sum[index + shift] = (sum[index + shift] ?? 0) + (samples[index] ?? 0) / 32_768
      }
    }
  }

  forget(before: number): void {
    while (
      this.#pieces[0] !== undefined &&
      this.#pieces[0].at + this.#pieces[0].samples.length / soundChannels <= before
    ) {
      this.#pieces.shift()
    }
  }
}

/** Splits a stream of bytes into complete samples. */
export class WholeSamples {
  #rest: Buffer = Buffer.alloc(0)

  /** Appends bytes, and returns the complete samples. */
  take(bytes: Buffer): Buffer {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const whole = all.length - (all.length % frameBytes)
    this.#rest = all.subarray(whole)
    return all.subarray(0, whole)
  }
}
