import { BitWriter } from '../base/bits.ts'

/** Returns the code of the block size in a frame header (RFC 9639, section 9.1.1): 512, 1,024 or 2,048 samples. */
function blockCode(sampleRate: number): number {
  if (sampleRate > 32_000) return 11
  return sampleRate > 12_000 ? 10 : 9
}

/**
 * Returns the number of samples per frame: 21 to 85 ms, so that frames are few and the buffered part of a frame is
 * short.
 */
export function flacSamples(sampleRate: number): number {
  return 1 << blockCode(sampleRate)
}

export interface PcmFormat {
  /** Sample rate, in Hz. */
  sampleRate: number
  channels: number
}

/** Returns `fLaC` and STREAMINFO (RFC 9639, section 8.2) for 16 bits, a fixed frame size and an unknown length. */
export function flacDescription({ sampleRate, channels }: PcmFormat): Buffer {
  const info = Buffer.alloc(34)
  info.writeUInt16BE(flacSamples(sampleRate), 0)
  info.writeUInt16BE(flacSamples(sampleRate), 2)
  // 20 bits of rate, 3 of channels, 5 of sample size, followed by a length of 0.
  info.writeUInt32BE(((sampleRate << 12) | ((channels - 1) << 9) | (15 << 4)) >>> 0, 10)
  return Buffer.concat([Buffer.from('fLaC'), Buffer.from([0x80, 0, 0, info.length]), info])
}

/** Maximum parameter of Rice codes with four bits; 15 is an escape (section 9.2.7). */
const maxRice = 14

/**
 * Encodes one frame of 16-bit samples losslessly, with the fixed predictors (RFC 9639, section 9.2.5).
 * @param tracks samples of each channel, `flacSamples` each
 * @param number frame number, from 0
 */
export function flacFrame(tracks: readonly Int16Array[], sampleRate: number, number: number): Buffer {
  const bits = new FlacBits(64 + tracks.length * flacSamples(sampleRate) * 3)
  // Sync code with fixed block size; block size, and sample rate from STREAMINFO; independent channels, 16 bits.
  const head = [0xff, 0xf8, blockCode(sampleRate) << 4, ((tracks.length - 1) << 4) | 0x08]
  for (const byte of [...head, ...utf8Number(number)]) bits.write(byte, 8)
  bits.write(crc8(bits.bytes()), 8)
  for (const samples of tracks) channel(bits, samples)
  bits.align()
  bits.write(crc16(bits.bytes()), 16)
  return Buffer.from(bits.bytes())
}

function channel(bits: FlacBits, samples: Int16Array): void {
  const wasted = wastedBits(samples)
  const values = Int32Array.from(samples, (sample) => sample >> wasted)
  if (values.every((value) => value === values[0])) {
    subframe(bits, 0, wasted)
    bits.writeSigned(values[0] ?? 0, 16 - wasted)
    return
  }
  const { order, residuals, rice, cost } = bestPrediction(values)
  if (cost < values.length * (16 - wasted)) {
    subframe(bits, 8 | order, wasted)
    for (let i = 0; i < order; i++) bits.writeSigned(values[i] ?? 0, 16 - wasted)
    // One partition of Rice codes.
    bits.write(0, 6)
    bits.write(rice, 4)
    for (let i = order; i < residuals.length; i++) bits.writeRice(residuals[i] ?? 0, rice)
  } else {
    subframe(bits, 1, wasted)
    for (const value of values) bits.writeSigned(value, 16 - wasted)
  }
}

function subframe(bits: FlacBits, type: number, wasted: number): void {
  bits.write((type << 1) | (wasted > 0 ? 1 : 0), 8)
  if (wasted > 0) bits.write(1, wasted)
}

/** Returns the number of low bits that are 0 in all samples; two or three for samples from G.711. */
function wastedBits(samples: Int16Array): number {
  let all = 0
  for (const sample of samples) all |= sample
  return all === 0 ? 0 : Math.min(8, 31 - Math.clz32(all & -all))
}

interface Prediction {
  order: number
  residuals: Int32Array
  rice: number
  /** Approximate size in bits. */
  cost: number
}

function bestPrediction(values: Int32Array): Prediction {
  let best: Prediction | undefined
  let residuals = values
  for (let order = 0; order <= 2; order++) {
    if (order > 0) {
      const before = residuals
      residuals = Int32Array.from(before, (value, i) => (i < order ? value : value - (before[i - 1] ?? 0)))
    }
    let sum = 0
    for (let i = order; i < residuals.length; i++) sum += Math.abs(residuals[i] ?? 0)
    const mean = (sum * 2) / (residuals.length - order)
    const rice = Math.min(maxRice, Math.max(0, Math.round(Math.log2(mean * 0.6931 + 1e-9))))
    const cost = (residuals.length - order) * (rice + 1) + (sum * 2) / 2 ** rice
    if (best === undefined || cost < best.cost) best = { order, residuals, rice, cost }
  }
  return best ?? { order: 0, residuals: values, rice: 0, cost: Infinity }
}

/** Encodes a number in the form of UTF-8 (section 9.1.5). */
function utf8Number(value: number): Buffer {
  // Numbers wrap around at the first surrogate.
  const code = value % 0xd800
  return Buffer.from(String.fromCodePoint(code), 'utf8')
}

/** Writes numbers as FLAC codes them. */
class FlacBits extends BitWriter {
  writeSigned(value: number, count: number): void {
    this.write(value & ((1 << count) - 1), count)
  }

  writeRice(value: number, parameter: number): void {
    const folded = value < 0 ? -2 * value - 1 : 2 * value
    let zeros = folded >>> parameter
    for (; zeros >= 16; zeros -= 16) this.write(0, 16)
    this.write(1, zeros + 1)
    if (parameter > 0) this.write(folded & ((1 << parameter) - 1), parameter)
  }
}

const table8 = crcTable(0x07, 8)
const table16 = crcTable(0x8005, 16)

function crcTable(polynomial: number, width: number): Uint16Array {
  const top = 1 << (width - 1)
  return Uint16Array.from({ length: 256 }, (_, index) => {
    let value = index << (width - 8)
    for (let bit = 0; bit < 8; bit++) value = (value & top) === 0 ? value << 1 : (value << 1) ^ polynomial
    return value & ((1 << width) - 1)
  })
}

function crc8(bytes: Buffer): number {
  let crc = 0
  for (const byte of bytes) crc = table8[(crc ^ byte) & 0xff] ?? 0
  return crc
}

function crc16(bytes: Buffer): number {
  let crc = 0
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ (table16[((crc >> 8) ^ byte) & 0xff] ?? 0)
  return crc
}
