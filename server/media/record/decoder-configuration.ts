import { withoutEmulation } from '../rtsp/bit-reader.ts'
import { h264Parameters, h265Parameters } from '../rtsp/resolution.ts'
import type { PictureFormat } from './track-format.ts'

/** Size of a NAL unit's length field in a file, in bytes (lengthSizeMinusOne + 1). */
const lengthBytes = 4

/**
 * Returns the format of H.264 with these parameter sets: AVCDecoderConfigurationRecord (ISO/IEC 14496-15, section
 * 5.3.3.1). Returns undefined if they are broken.
 * @param sequence, picture parameter sets, each a NAL unit
 */
export function avcFormat(sequence: readonly Buffer[], picture: readonly Buffer[]): PictureFormat | undefined {
  const [first] = sequence
  const parameters = first && h264Parameters(first)
  if (first === undefined || parameters === undefined || picture.length === 0 || first.length < 4) return undefined
  const { width, height, profile, chroma, bitDepth } = parameters
  const parts = [
    Buffer.from([1, first[1] ?? 0, first[2] ?? 0, first[3] ?? 0, 0xfc | (lengthBytes - 1), 0xe0 | sequence.length]),
    ...sequence.flatMap(withLength),
    Buffer.from([picture.length]),
    ...picture.flatMap(withLength),
  ]
  // Profiles above these have additional chroma fields.
  if (![66, 77, 88].includes(profile)) {
    parts.push(Buffer.from([0xfc | chroma, 0xf8 | (bitDepth - 8), 0xf8 | (bitDepth - 8), 0]))
  }
  return {
    codec: 'avc',
    codecString: `avc1.${first.subarray(1, 4).toString('hex')}`,
    width,
    height,
    description: Buffer.concat(parts),
    parameterSets: lengthPrefixed([...sequence, ...picture]),
  }
}

/** Types of the parameter sets of H.265 in the order of the record (ITU-T H.265, section 7.4.2.2): VPS, SPS, PPS. */
const hevcSets = [32, 33, 34] as const

/**
 * Returns the format of H.265 with these parameter sets: HEVCDecoderConfigurationRecord (ISO/IEC 14496-15, section
 * 8.3.3.1). Returns undefined if they are broken.
 * @param sets NAL units of VPS, SPS and PPS
 */
export function hevcFormat(sets: readonly (readonly Buffer[])[]): PictureFormat | undefined {
  const [video = [], sequence = [], picture = []] = sets
  const [first] = sequence
  const parameters = first && h265Parameters(first)
  if (first === undefined || parameters === undefined || picture.length === 0) return undefined
  const { width, height, chroma, bitDepth } = parameters
  // One byte with id and layers lies between the NAL header and profile_tier_level, whose first 12 bytes are copied to
  // the record.
  const plain = Buffer.from(withoutEmulation(first))
  const general = plain.subarray(3, 15)
  if (general.length < 12) return undefined
  const layers = ((plain[2] ?? 0) >> 1) & 7
  const nested = (plain[2] ?? 0) & 1
  const arrays = [video, sequence, picture].flatMap((units, index) =>
    units.length === 0 ? [] : [{ type: hevcSets[index] ?? 0, units }],
  )
  const description = Buffer.concat([
    Buffer.from([1]),
    general,
    Buffer.from([0xf0, 0, 0xfc, 0xfc | chroma, 0xf8 | (bitDepth - 8), 0xf8 | (bitDepth - 8), 0, 0]),
    Buffer.from([((layers + 1) << 3) | (nested << 2) | (lengthBytes - 1), arrays.length]),
    ...arrays.flatMap(({ type, units }) => [
      Buffer.from([0x80 | type, units.length >> 8, units.length & 0xff]),
      ...units.flatMap(withLength),
    ]),
  ])
  const parameterSets = lengthPrefixed(sets.flat())
  return { codec: 'hevc', codecString: hevcString(general), width, height, description, parameterSets }
}

/**
 * Returns the codec string of H.265 (ISO/IEC 14496-15, annex E.3).
 * @param general the 12 bytes of profile, tier and level
 */
function hevcString(general: Buffer): string {
  const head = general[0] ?? 0
  const space = ['', 'A', 'B', 'C'][head >> 6] ?? ''
  const tier = (head & 0x20) === 0 ? 'L' : 'H'
  const compatibility = reversedBits(general.readUInt32BE(1)).toString(16)
  const constraints = [...general.subarray(5, 11)]
  while (constraints.length > 0 && constraints.at(-1) === 0) constraints.pop()
  const parts = [`hvc1.${space}${head & 0x1f}`, compatibility, `${tier}${general[11] ?? 0}`]
  return [...parts, ...constraints.map((byte) => byte.toString(16))].join('.')
}

function reversedBits(value: number): number {
  let reversed = 0
  for (let bit = 0; bit < 32; bit++) reversed = reversed * 2 + ((value >>> bit) & 1)
  return reversed
}

/** Joins NAL units in the form of a picture, each preceded by its length. */
function lengthPrefixed(units: readonly Buffer[]): Buffer {
  return Buffer.concat(
    units.flatMap((unit) => {
      const length = Buffer.alloc(lengthBytes)
      length.writeUInt32BE(unit.length)
      return [length, unit]
    }),
  )
}

/** Returns a parameter set preceded by its length. */
function withLength(unit: Buffer): [Buffer, Buffer] {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(unit.length)
  return [length, unit]
}
