import type { FieldFilm, FilmPicture } from './field-film.ts'

/** Size in macroblocks: 64×64 pixels, whose fields have half of the height. */
const widthInBlocks = 4
const fieldHeightInBlocks = 2
const blocks = widthInBlocks * fieldHeightInBlocks
/** Samples of a macroblock in 4:2:0. */
const samples = 384
const pictures = 10

/** Writes the syntax elements of H.264 (ITU-T H.264, section 9.1). */
class BitWriter {
  readonly #bits: number[] = []

  fixed(value: number, length: number): this {
    for (let bit = length - 1; bit >= 0; bit--) this.#bits.push((value >> bit) & 1)
    return this
  }

  /** ue(v); se(v) of 0 is the same. */
  unsigned(...values: readonly number[]): this {
    for (const value of values) {
      const length = 32 - Math.clz32(value + 1)
      this.fixed(0, length - 1).fixed(value + 1, length)
    }
    return this
  }

  align(): this {
    while (this.#bits.length % 8 !== 0) this.#bits.push(0)
    return this
  }

  /** The unit with its trailing bits and emulation prevention (sections 7.3.2.11 and 7.4.1). */
  unit(header: number): Buffer {
    this.fixed(1, 1).align()
    const bytes = [header]
    let zeros = 0
    for (let at = 0; at < this.#bits.length; at += 8) {
      const byte = this.#bits.slice(at, at + 8).reduce((sum, bit) => sum * 2 + bit, 0)
      if (zeros >= 2 && byte <= 3) {
        bytes.push(3)
        zeros = 0
      }
      bytes.push(byte)
      zeros = byte === 0 ? zeros + 1 : 0
    }
    return Buffer.from(bytes)
  }
}

/** Main profile, level 3, picture order by 8 bits, no frame coding only, no coding by macroblock pairs. */
const sequenceSet = (): Buffer =>
  new BitWriter()
    .fixed(77, 8)
    .fixed(0, 8)
    .fixed(30, 8)
    .unsigned(0, 0, 0, 4, 2)
    .fixed(0, 1)
    .unsigned(widthInBlocks - 1, fieldHeightInBlocks - 1)
    .fixed(0b00100, 5)
    .unit(0x67)

/** CAVLC, with control of the deblocking filter. */
const pictureSet = (): Buffer =>
  new BitWriter().unsigned(0, 0).fixed(0, 2).unsigned(0, 0, 0).fixed(0, 3).unsigned(0, 0, 0).fixed(0b100, 3).unit(0x68)

/** One field: the first of a group of plain samples, any other a copy of the field before. */
function field(index: number, isBottom: boolean): Buffer {
  const isKey = index === 0 && !isBottom
  const bits = new BitWriter()
    .unsigned(0, isKey ? 7 : 5, 0)
    .fixed(index, 4)
    .fixed(1, 1)
    .fixed(isBottom ? 1 : 0, 1)
  if (isKey) bits.unsigned(0)
  bits.fixed(2 * index + (isBottom ? 1 : 0), 8)
  // References: as usual. Marking: an IDR picture has two flags, others one.
  bits.fixed(0, isKey ? 2 : 3).unsigned(0, 1)
  if (!isKey) return bits.unsigned(blocks).unit(0x41)
  for (let block = 0; block < blocks; block++) {
    bits.unsigned(25).align()
    for (let sample = 0; sample < samples; sample++) bits.fixed(100 + ((block * 7 + sample) % 60), 8)
  }
  return bits.unit(0x65)
}

/** Makes a film whose pictures are two fields each (field_pic_flag), which no free encoder does. */
export function fieldCodedFilm(): FieldFilm {
  return {
    codec: 'H264',
    sets: [sequenceSet(), pictureSet()],
    pictures: Array.from(
      { length: pictures },
      (_, at): FilmPicture => ({ units: [field(at, false), field(at, true)], key: at === 0, at }),
    ),
  }
}
