import type { SampleDecoder } from './frame-assembly.ts'

/**
 * Tables of a rate (ITU-T G.726, tables 7 to 10 and section 4.2), for positive codes. Negative codes use the same
 * entries in reverse order.
 */
interface Tables {
  /** Logarithms of the differences, with 7 fractional bits; -32,768: the difference is 0. */
  inverse: readonly number[]
  /** Multipliers of the scale factor. */
  scale: readonly number[]
  /** Rates of change, for the speed control. */
  change: readonly number[]
}

const tables: Readonly<Record<number, Tables>> = {
  2: { inverse: [116, 365], scale: [-22, 439], change: [0, 7] },
  3: { inverse: [-32_768, 135, 273, 373], scale: [-4, 30, 137, 582], change: [0, 1, 2, 7] },
  4: {
    inverse: [-32_768, 4, 135, 213, 273, 323, 373, 425],
    scale: [-12, 18, 41, 64, 112, 198, 355, 1_122],
    change: [0, 0, 0, 1, 1, 1, 3, 7],
  },
  5: {
    inverse: [-32_768, -66, 28, 104, 169, 224, 274, 318, 358, 395, 429, 459, 488, 514, 539, 566],
    scale: [14, 14, 24, 39, 40, 41, 58, 100, 141, 179, 219, 280, 358, 440, 529, 696],
    change: [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 6],
  },
}

/** Floating point with 4 bits of exponent and 6 of mantissa (section 4.2.6). */
interface Float11 {
  isNegative: boolean
  exponent: number
  mantissa: number
}

const zero: Float11 = { isNegative: false, exponent: 0, mantissa: 32 }

function float11(value: number): Float11 {
  const magnitude = Math.abs(value)
  const exponent = magnitude === 0 ? 0 : 32 - Math.clz32(magnitude)
  return { isNegative: value < 0, exponent, mantissa: magnitude === 0 ? 32 : (magnitude << 6) >> exponent }
}

function product(a: Float11, b: Float11): number {
  const exponent = a.exponent + b.exponent - 19
  const mantissas = (a.mantissa * b.mantissa + 0x30) >> 4
  const magnitude = exponent > 0 ? mantissas << exponent : mantissas >> -exponent
  return a.isNegative === b.isNegative ? magnitude : -magnitude
}

function clip(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value))
}

/** Decoder of one G.726 stream (ITU-T G.726, section 4.2). The names in parentheses are from the recommendation. */
class G726 {
  readonly #bits: number
  readonly #tables: Tables
  /** Coefficients of the predictor with two poles (A) and six zeros (B), and their inputs. */
  #a: [number, number] = [0, 0]
  #b = [0, 0, 0, 0, 0, 0]
  #reconstructed: [Float11, Float11] = [zero, zero]
  #differences: Float11[] = [zero, zero, zero, zero, zero, zero]
  /** Signs of the last two partial reconstructions (PK). */
  #signs: [number, number] = [1, 1]
  /** Scale factors (Y, YU, YL), speed control (AP, DMS, DML), tone detection (TD), and estimates (SE, SEZ). */
  readonly #s = { y: 544, yu: 544, yl: 34_816, ap: 0, dms: 0, dml: 0, isTone: false, se: 0, sez: 0 }

  constructor(bits: number, rate: Tables) {
    this.#bits = bits
    this.#tables = rate
  }

  sample(code: number): number {
    const s = this.#s
    const isNegative = code >> (this.#bits - 1) === 1
    const index = isNegative ? (1 << this.#bits) - 1 - code : code
    const magnitude = this.#magnitude(index)
    const whole = s.yl >> 15
    const threshold = whole > 9 ? 0x1f << 10 : (0x20 + ((s.yl >> 10) & 0x1f)) << whole
    const isTransition = s.isTone && magnitude > (3 * threshold) >> 2
    const difference = isNegative ? -magnitude : magnitude
    const signal = ((s.se + difference) << 16) >> 16
    this.#adapt(difference, isTransition)
    this.#reconstructed = [float11(signal), this.#reconstructed[0]]
    this.#differences = [{ ...float11(difference), isNegative }, ...this.#differences.slice(0, 5)]
    s.isTone = this.#a[1] < -11_776
    this.#control(index, isTransition)
    this.#estimate()
    return clip(signal * 4, -32_768, 32_767)
  }

  #magnitude(index: number): number {
    const logarithm = (this.#tables.inverse[index] ?? 0) + (this.#s.y >> 2)
    return logarithm < 0 ? 0 : ((128 + (logarithm & 0x7f)) << ((logarithm >> 7) & 0xf)) >> 7
  }

  #adapt(difference: number, isTransition: boolean): void {
    const [before, earlier] = this.#signs
    const sign = Math.sign(this.#s.sez + difference)
    if (isTransition) {
      this.#a = [0, 0]
      this.#b = [0, 0, 0, 0, 0, 0]
    } else {
      const [a1, a2] = this.#a
      const f = clip((-a1 * before * sign) >> 5, -256, 255)
      const second = clip(a2 + 128 * sign * earlier + f - (a2 >> 7), -12_288, 12_288)
      const limit = 15_360 - second
      this.#a = [clip(a1 + 192 * sign * before - (a1 >> 8), -limit, limit), second]
      const step = 128 * Math.sign(difference)
      this.#b = this.#b.map((b, i) => b + (this.#differences[i]?.isNegative === true ? -step : step) - (b >> 8))
    }
    this.#signs = [sign === 0 ? 1 : sign, before]
  }

  #control(index: number, isTransition: boolean): void {
    const s = this.#s
    const change = (this.#tables.change[index] ?? 0) << 4
    s.dms += change + (-s.dms >> 5)
    s.dml += change + (-s.dml >> 7)
    if (isTransition) s.ap = 256
    else {
      s.ap += -s.ap >> 4
      if (s.y <= 1_535 || s.isTone || Math.abs((s.dms << 2) - s.dml) >= s.dml >> 3) s.ap += 0x20
    }
    s.yu = clip(s.y + (this.#tables.scale[index] ?? 0) + (-s.y >> 5), 544, 5_120)
    s.yl += s.yu + (-s.yl >> 6)
    const mix = s.ap >= 256 ? 64 : s.ap >> 2
    s.y = (s.yl + (s.yu - (s.yl >> 6)) * mix) >> 6
  }

  #estimate(): void {
    let sum = 0
    for (const [i, b] of this.#b.entries()) sum += product(float11(b >> 2), this.#differences[i] ?? zero)
    this.#s.sez = sum >> 1
    for (const i of [0, 1] as const) sum += product(float11(this.#a[i] >> 2), this.#reconstructed[i])
    this.#s.se = sum >> 1
  }
}

/**
 * Creates a decoder of G.726.
 * @param bits per code: 2 to 5
 * @param first position of a byte's first code: in the least significant bits (RFC 3551, section 4.5.4), or in the most
 *   significant ones (AAL2)
 */
export function g726Decoder(bits: number, first: 'least' | 'most'): SampleDecoder {
  const rate = tables[bits]
  if (rate === undefined) throw new RangeError(`G.726 has no codes of ${bits} bits`)
  const decoder = new G726(bits, rate)
  return (payload) =>
    Int16Array.from({ length: Math.floor((payload.length * 8) / bits) }, (_, index) => {
      const at = index * bits
      const pair = ((payload[at >> 3] ?? 0) << 8) | (payload[(at >> 3) + 1] ?? 0)
      const swapped = ((pair & 0xff) << 8) | (pair >> 8)
      const code = first === 'most' ? pair >> (16 - (at & 7) - bits) : swapped >> (at & 7)
      return decoder.sample(code & ((1 << bits) - 1))
    })
}
