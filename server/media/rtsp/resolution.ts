import { h264Content, sequenceParameters } from '../rtp/key-frame.ts'
import { nalPiecesOf, packings, parameterSetsOf } from '../rtp/nal-units.ts'
import { headerLength } from '../rtp/packet.ts'
import { BitReader } from '../base/bits.ts'
import { type RtspTrack, sizeParameter } from './description.ts'

/** Size of a picture in pixels. */
export interface Resolution {
  width: number
  height: number
}

/** Fields read from a sequence parameter set. */
export interface SequenceParameters extends Resolution {
  /** profile_idc of H.264, general_profile_idc of H.265. */
  profile: number
  /** chroma_format_idc: 1 is 4:2:0. */
  chroma: number
  /** Bits per sample, the larger of luma and chroma. */
  bitDepth: number
  /** Whether an H.264 stream may have fields, or frames of two fields; false for H.265. */
  interlaced: boolean
  /**
   * Maximum number of pictures that precede any one picture in decoding order and follow it in output order: more than
   * 0 with B-frames; undefined if not specified.
   */
  reordered: number | undefined
}

/** Returns the resolution in a track's parameter sets; undefined if there is no valid set. */
export function describedResolution(track: RtspTrack): Resolution | undefined {
  const parameters = describedParameters(track)
  return parameters === undefined ? undefined : { width: parameters.width, height: parameters.height }
}

/**
 * Returns the size described separately from the format: `a=x-dimensions:W,H`, `a=framesize:TYPE W-H` (3GPP TS 26.234,
 * section 5.3.3.2).
 */
export function describedSize({ parameters }: Pick<RtspTrack, 'parameters'>): Resolution | undefined {
  const [, width = '0', height = '0'] = /^(\d{1,5})[,x-](\d{1,5})$/.exec(parameters.get(sizeParameter) ?? '') ?? []
  return Number(width) > 0 && Number(height) > 0 ? { width: Number(width), height: Number(height) } : undefined
}

/**
 * Names of the parameters that hold parameter sets (RFC 6184, section 8.1; RFC 7798, section 7.1), in the order
 * required by a decoder.
 */
const setParameters = { H264: ['sprop-parameter-sets'], H265: ['sprop-vps', 'sprop-sps', 'sprop-pps'] } as const

/** Returns the parameter sets in a description; empty for other codecs. */
export function describedUnits({ codec, parameters }: Pick<RtspTrack, 'codec' | 'parameters'>): Buffer[] {
  if (codec !== 'H264' && codec !== 'H265') return []
  return setParameters[codec].flatMap((name) => parameterSetsOf(parameters.get(name) ?? ''))
}

/** Returns the picture parameters in a track's parameter sets; undefined if there is no valid set. */
export function describedParameters(track: Pick<RtspTrack, 'codec' | 'parameters'>): SequenceParameters | undefined {
  const parametersOf = track.codec === 'H264' ? h264Parameters : h265Parameters
  for (const unit of describedUnits(track)) {
    const parameters = parametersOf(unit)
    if (parameters !== undefined) return parameters
  }
  return undefined
}

/** Returns the picture parameters in an H.264 packet; malformed parameter sets are skipped. */
export function sentParameters(packet: Buffer): SequenceParameters[] {
  if ((h264Content(packet) & sequenceParameters) === 0) return []
  return nalPiecesOf(packet, packings.H264).flatMap(({ header, type, body }) =>
    type === 7 ? (h264Parameters(Buffer.concat([header, body])) ?? []) : [],
  )
}

/** NAL unit types of H.264 packets (RFC 6184). */
const sequenceParameterSet = 7
const aggregate = 24

/**
 * Returns the picture size from an H.264 sequence parameter set in the packet, as a single unit or in a STAP-A;
 * undefined if the set is absent or malformed.
 */
export function h264PictureSize(packet: Buffer): Resolution | undefined {
  const at = headerLength(packet)
  const type = (packet[at] ?? 0) & 0x1f
  if (type === sequenceParameterSet) return h264Parameters(packet.subarray(at))
  if (type !== aggregate) return undefined
  for (let unit = at + 1; unit + 2 < packet.length; ) {
    const length = packet.readUInt16BE(unit)
    const nal = packet.subarray(unit + 2, unit + 2 + length)
    if (((nal[0] ?? 0) & 0x1f) === sequenceParameterSet) return h264Parameters(nal)
    unit += 2 + length
  }
  return undefined
}

/** Profiles whose parameter set has additional chroma fields (ITU-T H.264, section 7.3.2.1.1). */
const highProfiles = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135])

/** profile_idc of the baseline profile, which has no B-frames (ITU-T H.264, section A.2.1). */
const baseline = 66
/** Value of pic_order_cnt_type for output in decoding order (section 8.2.1). */
const decodingOrder = 2

/** Reads an H.264 sequence parameter set; undefined for any other unit, or if the set is malformed. */
export function h264Parameters(nal: Uint8Array): SequenceParameters | undefined {
  if (((nal[0] ?? 0) & 0x1f) !== 7) return undefined
  return read(() => {
    const bits = new BitReader(nal.subarray(1))
    const profile = bits.bits(8)
    bits.skip(16)
    bits.unsigned()
    const { chroma, bitDepth } = highProfiles.has(profile) ? highProfileSamples(bits) : { chroma: 1, bitDepth: 8 }
    bits.unsigned()
    const order = skipPictureOrder(bits)
    bits.unsigned()
    bits.skip(1)
    const widthInBlocks = bits.unsigned() + 1
    const heightInUnits = bits.unsigned() + 1
    const framesOnly = bits.bit()
    if (framesOnly === 0) bits.skip(1)
    bits.skip(1)
    const crop = bits.bit() === 1 ? crops(bits) : [0, 0, 0, 0]
    const cropX = chroma === 1 || chroma === 2 ? 2 : 1
    const cropY = (chroma === 1 ? 2 : 1) * (2 - framesOnly)
    const never = profile === baseline || order === decodingOrder
    return {
      ...cropped(widthInBlocks * 16, heightInUnits * 16 * (2 - framesOnly), crop, cropX, cropY),
      profile,
      chroma,
      bitDepth,
      interlaced: framesOnly === 0,
      reordered: never ? 0 : whereRead(() => h264Reordered(bits)),
    }
  })
}

function highProfileSamples(bits: BitReader): { chroma: number; bitDepth: number } {
  const chroma = bits.unsigned()
  if (chroma === 3) bits.skip(1)
  const bitDepth = 8 + Math.max(bits.unsigned(), bits.unsigned())
  bits.skip(1)
  if (bits.bit() === 1) {
    const lists = chroma === 3 ? 12 : 8
    for (let list = 0; list < lists; list++) if (bits.bit() === 1) skipScalingList(bits, list < 6 ? 16 : 64)
  }
  return { chroma, bitDepth }
}

function skipScalingList(bits: BitReader, size: number): void {
  let next = 8
  for (let i = 0; i < size && next !== 0; i++) next = (next + bits.signed() + 256) % 256
}

/** Reads max_num_reorder_frames of the usability information (sections E.1.1 and E.1.2); undefined if it is missing. */
function h264Reordered(bits: BitReader): number | undefined {
  if (bits.bit() === 0) return undefined
  if (bits.bit() === 1 && bits.bits(8) === 255) bits.skip(32)
  if (bits.bit() === 1) bits.skip(1)
  if (bits.bit() === 1) {
    bits.skip(4)
    if (bits.bit() === 1) bits.skip(24)
  }
  if (bits.bit() === 1) skipNumbers(bits, 2)
  if (bits.bit() === 1) bits.skip(65)
  const hypotheticalDecoders = [skipDecoder(bits), skipDecoder(bits)]
  if (hypotheticalDecoders.includes(true)) bits.skip(1)
  bits.skip(1)
  if (bits.bit() === 0) return undefined
  bits.skip(1)
  skipNumbers(bits, 4)
  return bits.unsigned()
}

/** Skips hypothetical decoder parameters. Returns whether they were present. */
function skipDecoder(bits: BitReader): boolean {
  if (bits.bit() === 0) return false
  const count = bits.unsigned() + 1
  if (count > 32) throw new RangeError('not a parameter set')
  bits.skip(8)
  for (let i = 0; i < count; i++) {
    skipNumbers(bits, 2)
    bits.skip(1)
  }
  bits.skip(20)
  return true
}

function skipNumbers(bits: BitReader, count: number): void {
  for (let i = 0; i < count; i++) bits.unsigned()
}

/** Skips the picture order fields. Returns the pic_order_cnt_type. */
function skipPictureOrder(bits: BitReader): number {
  const type = bits.unsigned()
  if (type === 0) bits.unsigned()
  if (type !== 1) return type
  bits.skip(1)
  bits.signed()
  bits.signed()
  const count = bits.unsigned()
  if (count > 255) throw new RangeError('not a parameter set')
  for (let i = 0; i < count; i++) bits.signed()
  return type
}

/** Reads an H.265 sequence parameter set (ITU-T H.265, section 7.3.2.2.1). */
export function h265Parameters(nal: Uint8Array): SequenceParameters | undefined {
  if ((((nal[0] ?? 0) >> 1) & 0x3f) !== 33) return undefined
  return read(() => {
    const bits = new BitReader(nal.subarray(2))
    bits.skip(4)
    const layers = bits.bits(3)
    // The nesting flag (1 bit), the profile space (2 bits) and the tier (1 bit) precede the profile.
    bits.skip(4)
    const profile = bits.bits(5)
    bits.skip(80 + 8)
    const present = Array.from({ length: layers }, () => [bits.bit(), bits.bit()])
    if (layers > 0) bits.skip(2 * (8 - layers))
    for (const [profile = 0, level = 0] of present) bits.skip(88 * profile + 8 * level)
    bits.unsigned()
    const chroma = bits.unsigned()
    if (chroma === 3) bits.skip(1)
    const width = bits.unsigned()
    const height = bits.unsigned()
    const crop = bits.bit() === 1 ? crops(bits) : [0, 0, 0, 0]
    return {
      ...cropped(width, height, crop, chroma === 1 || chroma === 2 ? 2 : 1, chroma === 1 ? 2 : 1),
      profile,
      chroma,
      interlaced: false,
      ...(whereRead(() => h265Samples(bits)) ?? { bitDepth: 8, reordered: undefined }),
    }
  })
}

/** Reads the bits per sample, and sps_max_num_reorder_pics of the lowest described layer. */
function h265Samples(bits: BitReader): { bitDepth: number; reordered: number } {
  const bitDepth = 8 + Math.max(bits.unsigned(), bits.unsigned())
  // Skips the length of picture order counts, and the flag whether each layer is described.
  bits.unsigned()
  bits.skip(1)
  bits.unsigned()
  return { bitDepth, reordered: bits.unsigned() }
}

/** Reads the cropping offsets: left, right, top, bottom. */
function crops(bits: BitReader): number[] {
  return [bits.unsigned(), bits.unsigned(), bits.unsigned(), bits.unsigned()]
}

function cropped(width: number, height: number, crop: readonly number[], unitX: number, unitY: number): Resolution {
  const [left = 0, right = 0, top = 0, bottom = 0] = crop
  return { width: width - (left + right) * unitX, height: height - (top + bottom) * unitY }
}

/** Maximum picture size per side, in pixels: no camera has more than 16K. */
const largestSide = 16_384

function read(parse: () => SequenceParameters): SequenceParameters | undefined {
  const parameters = whereRead(parse)
  if (parameters === undefined) return undefined
  const { width, height } = parameters
  return width > 0 && height > 0 && width <= largestSide && height <= largestSide ? parameters : undefined
}

/** Returns the result of `parse`; undefined if the data ends early or is malformed. */
function whereRead<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
