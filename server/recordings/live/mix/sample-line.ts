/** Samples a second. */
export const sampleRate = 48_000
/** Channels, of which the samples take turns. */
export const channels = 2
/** Samples that are kept at most, whether somebody takes them or not. */
const maxSamples = 30 * sampleRate
/** Bytes of one sample of all channels, as 16-bit integers. */
const frameBytes = channels * 2

/** Sound of one voice on the line of time that all voices share: sample 0 is the epoch. */
export class SampleLine {
  readonly #pieces: { at: number; samples: Int16Array }[] = []

  /** Number of the sample behind the last one; -Infinity: there is none. */
  get end(): number {
    const last = this.#pieces.at(-1)
    return last === undefined ? -Infinity : last.at + last.samples.length / channels
  }

  /** Adds sound. @param at number of its first sample @param sound whole samples, 16-bit little-endian */
  add(at: number, sound: Buffer): void {
    const samples = new Int16Array(sound.length / 2)
    Buffer.from(samples.buffer).set(sound)
    this.#pieces.push({ at, samples })
    this.forget(at - maxSamples)
  }

  /** Adds what there is of a span to a sum of floats between -1 and 1. @param from number of the first sample of the sum */
  addTo(sum: Float32Array, from: number): void {
    for (const { at, samples } of this.#pieces) {
      const shift = (at - from) * channels
      const first = Math.max(0, -shift)
      const end = Math.min(samples.length, sum.length - shift)
      for (let index = first; index < end; index += 1) {
        sum[index + shift] = (sum[index + shift] ?? 0) + (samples[index] ?? 0) / 32_768
      }
    }
  }

  /** Forgets samples before this one. */
  forget(before: number): void {
    while (this.#pieces[0] !== undefined && this.#pieces[0].at + this.#pieces[0].samples.length / channels <= before) {
      this.#pieces.shift()
    }
  }
}

/** Cuts a stream of bytes into whole samples. */
export class WholeSamples {
  #rest: Buffer = Buffer.alloc(0)

  /** Takes what came, and returns the whole samples of it. */
  take(bytes: Buffer): Buffer {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const whole = all.length - (all.length % frameBytes)
    this.#rest = all.subarray(whole)
    return all.subarray(0, whole)
  }
}
