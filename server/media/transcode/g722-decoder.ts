import type { SampleDecoder } from './frame-assembly.ts'

/** Inverse quantizers of the bands, and steps of their logarithmic scale factors (ITU-T G.722, tables 7 to 14). */
const lowFour = [0, -2_557, -1_612, -1_121, -786, -530, -323, -150, 2_557, 1_612, 1_121, 786, 530, 323, 150, 0]
const lowMagnitudes = [
  3_101, 2_738, 2_376, 2_088, 1_873, 1_689, 1_535, 1_399, 1_279, 1_170, 1_072, 982, 899, 822, 750, 682, 618, 558, 501,
  447, 396, 347, 300, 254, 211, 170, 130, 91,
]
const lowSix = [-17, -17, -17, -17, ...lowMagnitudes.map((value) => -value), ...lowMagnitudes, 54, 17, -54, -17]
const lowSteps = [-60, 3_042, 1_198, 538, 334, 172, 58, -30, 3_042, 1_198, 538, 334, 172, 58, -30, -60]
const high = [-926, -202, 926, 202]
const highSteps = [798, -214]
const powers = Int32Array.from({ length: 32 }, (_, index) => Math.trunc(2_048 * 2 ** (index / 32) + 0.5))
/**
 * Coefficients of the filter that joins the bands (table 1): half of a symmetric filter, with every other coefficient
 * mirrored.
 */
const filter = [3, -11, 12, 32, -210, 951, 3_876, -805, 362, -156, 53, -11]

function clip(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value))
}

const clip16 = (value: number): number => clip(value, -32_768, 32_767)

/**
 * Adaptive predictor and quantizer of one band (section 3.6).
 */
class Band {
  readonly #maxLogarithm: number
  readonly #shift: number
  #logarithm = 0
  scale: number
  prediction = 0
  #poles: [number, number] = [0, 0]
  #zeros = [0, 0, 0, 0, 0, 0]
  #differences = [0, 0, 0, 0, 0, 0]
  #last = 0
  /** Whether the last two partial reconstructions were negative. */
  #negative: [boolean, boolean] = [false, false]

  constructor(scale: number, shift: number, maxLogarithm: number) {
    this.scale = scale
    this.#shift = shift
    this.#maxLogarithm = maxLogarithm
  }

  update(difference: number, step: number): void {
    const zeroPart = this.#predictZeros(difference)
    const whole = clip16((this.prediction + difference) * 2)
    const [first, second] = this.#poles
    this.prediction = clip16(zeroPart + ((first * whole) >> 15) + ((second * this.#last) >> 15))
    this.#last = whole
    this.#logarithm = clip(((this.#logarithm * 127) >> 7) + step, 0, this.#maxLogarithm)
    const exponent = (this.#logarithm >> 11) - this.#shift
    const power = powers[(this.#logarithm >> 6) & 31] ?? 0
    this.scale = exponent < 0 ? power >> -exponent : power << exponent
  }

  #zeroPart = 0

  #predictZeros(difference: number): number {
    const isNegative = this.#zeroPart + difference < 0
    const [before, earlier] = this.#negative
    const one = isNegative === before ? -1 : 1
    const two = isNegative === earlier ? 1 : -1
    this.#negative = [isNegative, before]
    const [first, second] = this.#poles
    const pole = clip(((one * clip(first, -8_191, 8_191)) >> 5) + two * 128 + ((second * 127) >> 7), -12_288, 12_288)
    const limit = 15_360 - pole
    this.#poles = [clip(-192 * one + ((first * 255) >> 8), -limit, limit), pole]
    this.#zeros = this.#zeros.map((zero, i) => {
      const step = (this.#differences[i] ?? 0) < 0 === difference < 0 ? 128 : -128
      return ((zero * 255) >> 8) + (difference === 0 ? 0 : step)
    })
    this.#differences = [difference * 2, ...this.#differences.slice(0, 5)]
    this.#zeroPart = 0
    for (const [i, zero] of this.#zeros.entries()) this.#zeroPart += ((this.#differences[i] ?? 0) * zero) >> 15
    return this.#zeroPart
  }
}

/** Creates a decoder of G.722 at 64 kbit/s to 16 kHz samples. */
export function g722Decoder(): SampleDecoder {
  const lowBand = new Band(8, 8, 18_432)
  const highBand = new Band(2, 10, 22_528)
  /** Last twelve sums and differences of the bands, oldest first. */
  const sums = new Array<number>(12).fill(0)
  const differences = new Array<number>(12).fill(0)
  return (payload) => {
    const samples = new Int16Array(payload.length * 2)
    for (const [index, byte] of payload.entries()) {
      const highCode = byte >> 6
      const lowCode = byte & 0x3f
      const low = clip(((lowBand.scale * (lowSix[lowCode] ?? 0)) >> 10) + lowBand.prediction, -16_384, 16_383)
      lowBand.update((lowBand.scale * (lowFour[lowCode >> 2] ?? 0)) >> 10, lowSteps[lowCode >> 2] ?? 0)
      const highDifference = (highBand.scale * (high[highCode] ?? 0)) >> 10
      const highPart = clip(highDifference + highBand.prediction, -16_384, 16_383)
      highBand.update(highDifference, highSteps[highCode & 1] ?? 0)
      sums.push(low + highPart)
      differences.push(low - highPart)
      sums.shift()
      differences.shift()
      let even = 0
      let odd = 0
      for (const [i, coefficient] of filter.entries()) {
        odd += (sums[i] ?? 0) * coefficient
        even += (differences[i] ?? 0) * (filter[11 - i] ?? 0)
      }
      samples[index * 2] = clip16(even >> 11)
      samples[index * 2 + 1] = clip16(odd >> 11)
    }
    return samples
  }
}
