import { BitWriter } from '../../base/bits.ts'

/** Width and height of a macroblock, in pixels; chroma has half of both. */
export const blockPixels = 16
const half = blockPixels / 2

/** A picture of 4:2:0 samples in limited range. Its size is a multiple of 16 in both directions. */
export interface Samples {
  width: number
  height: number
  /** Planes Y, Cb and Cr. */
  planes: readonly [Uint8Array, Uint8Array, Uint8Array]
}

/** Types of macroblocks (ITU-T H.264, tables 7-11 and 7-13), and Intra_16x16 prediction modes (table 8-4). */
const pcmInKey = 25
const pcmInOther = 30
const prediction = { vertical: 0, horizontal: 1 } as const
/** Prediction modes of chroma in the same directions (table 8-5). */
const chromaMode = { vertical: 2, horizontal: 1 } as const
/** TotalCoeff that an I_PCM macroblock counts as for its neighbours (section 9.2.1). */
const pcmCoefficients = 16
const maxFrameNumber = 16
const nal = { sps: 0x67, pps: 0x68, key: 0x65, other: 0x61 } as const
const sliceType = { key: 7, other: 5 } as const

/**
 * Returns the parameter sets for pictures of this size: Constrained Baseline profile, level 3, one reference picture,
 * pictures in the order of output, deblocking controlled by slices (ITU-T H.264, sections 7.3.2.1 and 7.3.2.2).
 */
export function parameterSets({ width, height }: Pick<Samples, 'width' | 'height'>): [sps: Buffer, pps: Buffer] {
  const sps = new UnitWriter().bits(0x42c01e, 24)
  // seq_parameter_set_id, log2_max_frame_num_minus4, pic_order_cnt_type, max_num_ref_frames.
  for (const value of [0, 0, 2, 1]) sps.unsigned(value)
  sps.bits(0, 1)
  sps.unsigned(width / blockPixels - 1).unsigned(height / blockPixels - 1)
  // frame_mbs_only_flag, direct_8x8_inference_flag, no cropping, no VUI.
  sps.bits(0b1100, 4)
  const pps = new UnitWriter().unsigned(0).unsigned(0).bits(0, 2)
  // One slice group; one reference; no weighted prediction; three quantizer values of 0.
  for (const value of [0, 0, 0]) pps.unsigned(value)
  pps.bits(0, 3)
  for (const value of [0, 0, 0]) pps.unsigned(value)
  // deblocking_filter_control_present_flag, constrained_intra_pred_flag, redundant_pic_cnt_present_flag.
  pps.bits(0b100, 3)
  return [sps.unit(nal.sps), pps.unit(nal.pps)]
}

/**
 * Codes a whole picture without loss: a macroblock that continues the one above or beside it costs a few bits, any
 * other one its samples.
 */
export function keyPicture(samples: Samples, idrNumber: number): Buffer {
  const slice = new UnitWriter().unsigned(0).unsigned(sliceType.key).unsigned(0).bits(0, 4).unsigned(idrNumber)
  // No output of prior pictures, no long-term reference; slice_qp_delta; no deblocking.
  slice.bits(0, 2).unsigned(0).unsigned(1)
  const across = samples.width / blockPixels
  const coefficients: number[] = []
  for (let block = 0; block < across * (samples.height / blockPixels); block++) {
    const [x, y] = [block % across, Math.floor(block / across)]
    const continued = continues(samples, x, y)
    coefficients.push(continued === undefined ? pcmCoefficients : 0)
    if (continued === undefined) {
      addSamples(slice.unsigned(pcmInKey), samples, x, y)
      continue
    }
    // Intra_16x16 without coefficients is 1 + prediction mode; chroma mode; mb_qp_delta.
    slice
      .unsigned(1 + prediction[continued])
      .unsigned(chromaMode[continued])
      .unsigned(0)
    const beside = x === 0 ? undefined : coefficients[block - 1]
    const above = y === 0 ? undefined : coefficients[block - across]
    addNoCoefficients(slice, beside, above)
  }
  return slice.unit(nal.key)
}

/**
 * Codes a picture as the changes since the picture before.
 * @param changed numbers of the macroblocks that changed, ascending
 * @param sinceKey number of pictures since the key picture, from 1
 */
export function changedPicture(samples: Samples, changed: readonly number[], sinceKey: number): Buffer {
  const slice = new UnitWriter()
    .unsigned(0)
    .unsigned(sliceType.other)
    .unsigned(0)
    .bits(sinceKey % maxFrameNumber, 4)
  // The default references; sliding window; slice_qp_delta; no deblocking.
  slice.bits(0, 3).unsigned(0).unsigned(1)
  const across = samples.width / blockPixels
  let next = 0
  for (const block of changed) {
    slice.unsigned(block - next).unsigned(pcmInOther)
    addSamples(slice, samples, block % across, Math.floor(block / across))
    next = block + 1
  }
  const skipped = across * (samples.height / blockPixels) - next
  if (skipped > 0) slice.unsigned(skipped)
  return slice.unit(nal.other)
}

/** Adds the samples of an I_PCM macroblock (section 7.3.5). */
function addSamples(slice: UnitWriter, { width, planes }: Samples, x: number, y: number): void {
  slice.align()
  for (const [index, plane] of planes.entries()) {
    const [size, stride] = index === 0 ? [blockPixels, width] : [half, width / 2]
    for (let row = 0; row < size; row++) {
      const at = (y * size + row) * stride + x * size
      slice.append(plane.subarray(at, at + size))
    }
  }
}

/** Adds coeff_token of a block without coefficients, coded by the mean of its neighbours (table 9-5). */
function addNoCoefficients(slice: UnitWriter, beside: number | undefined, above: number | undefined): void {
  const mean = beside === undefined || above === undefined ? (beside ?? above ?? 0) : (beside + above + 1) >> 1
  if (mean < 2) slice.bits(0b1, 1)
  else if (mean < 4) slice.bits(0b11, 2)
  else if (mean < 8) slice.bits(0b1111, 4)
  else slice.bits(0b000011, 6)
}

/** Returns in which direction a macroblock continues its neighbour; undefined: in none. */
function continues({ width, planes }: Samples, x: number, y: number): 'vertical' | 'horizontal' | undefined {
  const isLike = (dx: number, dy: number): boolean =>
    planes.every((plane, index) => {
      const [size, stride] = index === 0 ? [blockPixels, width] : [half, width / 2]
      for (let row = 0; row < size; row++)
        for (let column = 0; column < size; column++) {
          const from = dy === 1 ? (y * size - 1) * stride + x * size + column : (y * size + row) * stride + x * size - 1
          if (plane[(y * size + row) * stride + x * size + column] !== plane[from]) return false
        }
      return dx + dy > 0
    })
  if (y > 0 && isLike(0, 1)) return 'vertical'
  return x > 0 && isLike(1, 0) ? 'horizontal' : undefined
}

/** Writes the fields of a NAL unit. */
class UnitWriter extends BitWriter {
  constructor() {
    super(16 * 1_024)
  }

  bits(value: number, count: number): this {
    this.write(value, count)
    return this
  }

  /** Adds an unsigned Exp-Golomb number, ue(v) (ITU-T H.264, section 9.1). */
  unsigned(value: number): this {
    const length = 31 - Math.clz32(value + 1)
    return this.bits(0, length).bits(value + 1, length + 1)
  }

  /** Ends the data and returns it as a NAL unit (sections 7.3.1 and 7.3.2.11). @param head first byte */
  unit(head: number): Buffer {
    this.write(1, 1)
    this.align()
    return Buffer.concat([Buffer.of(head), withEmulationPrevention(this.bytes())])
  }
}

/** Puts a byte of 3 between two zero bytes and a byte up to 3 (ITU-T H.264, section 7.4.1). */
function withEmulationPrevention(bytes: Buffer): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (let at = bytes.indexOf('\0\0'); at !== -1 && at + 2 < bytes.length; at = bytes.indexOf('\0\0', at)) {
    if ((bytes[at + 2] ?? 0) > 3) {
      at += 1
      continue
    }
    parts.push(bytes.subarray(from, at + 2), Buffer.of(3))
    from = at + 2
    at = from
  }
  return parts.length === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(from)])
}
