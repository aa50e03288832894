import { KeylessTime } from '../rtp/key-frame.ts'
import { vp8PayloadAt, vp8PictureSize } from '../rtp/vp8.ts'
import { hasMarker, payloadOf, sequenceDistance, sequenceOf, timestampOf } from '../rtp/packet.ts'
import type { RawFormat } from '../feeds/raw-tap.ts'
import { setId } from '../clean/parameter-sets.ts'
import { withoutEmulation } from '../base/bits.ts'
import { describedUnits, h264Parameters, h265Parameters } from '../rtsp/resolution.ts'
import { AccessUnits, type JoinUnits, type PictureUnit } from '../transcode/access-units.ts'
import { type FrameAssembly, largestFrame, type SourceFrame } from '../transcode/frame-assembly.ts'
import type { PictureFormat } from './track-format.ts'

/** A picture in the form used in a file. */
export interface AssembledPicture extends SourceFrame {
  /** Whether pictures that follow this key frame in decoding order may precede it in output order. */
  leads?: boolean
  /** Format from this picture on; key frames only. */
  format: PictureFormat | undefined
}

/** Creates an assembly of pictures for a file. Returns undefined for a codec that is not recorded. */
export function pictureAssembly(
  format: RawFormat,
  take: (picture: AssembledPicture) => void,
): FrameAssembly | undefined {
  const { codec, clockRate, parameters } = format
  if (clockRate !== 90_000 || parameters.get('packetization-mode') === '2') return undefined
  if (codec === 'H264' || codec === 'H265') return unitPictures(codec, describedUnits(format), take)
  return codec === 'VP8' ? new Vp8Pictures(take) : undefined
}

/**
 * Assembles pictures of NAL units, each preceded by its length. Parameter sets are removed from the pictures and stored
 * in the format.
 */
function unitPictures(
  codec: 'H264' | 'H265',
  described: readonly Buffer[],
  take: (picture: AssembledPicture) => void,
): FrameAssembly {
  const sets = new FormatSets(codec, described)
  const keyless = new KeylessTime()
  const join: JoinUnits = (units) => {
    if (units.some(({ type }) => sets.types.includes(type))) sets.note(units)
    const pictures = units.filter(
      (unit) => !sets.types.includes(unit.type) && !isDelimiter(codec, unit) && !isUserData(codec, unit),
    )
    return pictures.length === 0 ? undefined : lengthPrefixed(pictures)
  }
  return new AccessUnits(
    codec,
    (frame) => {
      const isKeyless = keyless.note(frame.timestamp, frame.key)
      const key = frame.key || (isKeyless && frame.recovers === true)
      // No picture that follows an IDR picture of H.264 precedes it in output order (ITU-T H.264, section 7.4.1.2.4).
      const leads = codec === 'H265' || !frame.key
      take({ ...frame, key, leads: key && leads, format: key ? sets.format : undefined })
    },
    join,
  )
}

/** Whether a unit is an access unit delimiter, which files do not need. */
function isDelimiter(codec: 'H264' | 'H265', { type }: PictureUnit): boolean {
  return type === (codec === 'H264' ? 9 : 35)
}

/**
 * Whether a unit has private data of an encoder, which describes its settings (user_data_unregistered: ITU-T H.264,
 * section D.1.6; H.265, section D.2.6). Decoders do not need it, and tools mistake it for captions.
 */
function isUserData(codec: 'H264' | 'H265', { type, parts: [header, body] }: PictureUnit): boolean {
  const isMessage = codec === 'H264' ? type === 6 : type === 39
  return isMessage && header !== undefined && body?.[0] === 5
}

/** Joins NAL units in the form used in a file, each preceded by its length. */
function lengthPrefixed(units: readonly Pick<PictureUnit, 'parts' | 'bytes'>[]): Buffer {
  const total = units.reduce((sum, { bytes }) => sum + lengthBytes + bytes, 0)
  const frame = Buffer.allocUnsafe(total)
  let at = 0
  for (const { parts, bytes } of units) {
    frame.writeUInt32BE(bytes, at)
    at += lengthBytes
    for (const part of parts) at += part.copy(frame, at)
  }
  return frame
}

/** Assembles VP8 pictures (RFC 7741). A picture with a missing packet is dropped completely. */
class Vp8Pictures implements FrameAssembly {
  readonly #take: (picture: AssembledPicture) => void
  #parts: Buffer[] = []
  #bytes = 0
  #timestamp = 0
  #sequence = -1
  #broken = true
  #format: PictureFormat | undefined

  constructor(take: (picture: AssembledPicture) => void) {
    this.#take = take
  }

  push(packet: Buffer): void {
    const sequence = sequenceOf(packet)
    const follows = this.#sequence >= 0 && sequenceDistance(this.#sequence, sequence) === 1
    this.#sequence = sequence
    const payload = payloadOf(packet)
    // Padding packets have no payload.
    if (payload.length === 0) return
    const descriptor = payload[0] ?? 0
    const begins = (descriptor & 0x17) === 0x10
    if (begins) this.#begin(packet)
    else if (!follows || timestampOf(packet) !== this.#timestamp) this.#broken = true
    if (this.#broken) return
    const part = packet.subarray(vp8PayloadAt(packet), payload.byteOffset - packet.byteOffset + payload.length)
    this.#parts.push(part)
    this.#bytes += part.length
    if (this.#bytes > largestFrame) this.#broken = true
    else if (hasMarker(packet)) this.#finish()
  }

  #begin(packet: Buffer): void {
    this.#parts = []
    this.#bytes = 0
    this.#broken = false
    this.#timestamp = timestampOf(packet)
    const at = vp8PayloadAt(packet)
    const size = ((packet[at] ?? 1) & 1) === 0 ? vp8PictureSize(packet, at) : undefined
    if (size !== undefined && (size.width !== this.#format?.width || size.height !== this.#format.height)) {
      this.#format = { codec: 'vp8', codecString: 'vp8', ...size, description: undefined }
    }
  }

  #finish(): void {
    const frame = Buffer.concat(this.#parts, this.#bytes)
    this.#parts = []
    this.#broken = true
    const key = ((frame[0] ?? 1) & 1) === 0
    this.#take({ timestamp: this.#timestamp, frame, key, format: key ? this.#format : undefined })
  }
}

const maxSets = 8

/** Types of parameter sets, in the order of decoder configurations. */
const setTypes = { H264: [7, 8], H265: [32, 33, 34] } as const
const sequenceType = { H264: 7, H265: 33 } as const

/**
 * Parameter sets of a recorded stream, and the format that they define. Sets with different ids are kept side by side,
 * because some encoders alternate between them.
 */
class FormatSets {
  readonly types: readonly number[]
  readonly #codec: 'H264' | 'H265'
  #sets: readonly (readonly Buffer[])[]
  #format: PictureFormat | undefined
  #isFormatNew = true

  /** @param described units from the stream's description */
  constructor(codec: 'H264' | 'H265', described: readonly Buffer[]) {
    this.#codec = codec
    this.types = setTypes[codec]
    const typeOf = (unit: Buffer): number => (codec === 'H264' ? (unit[0] ?? 0) & 0x1f : ((unit[0] ?? 0) >> 1) & 0x3f)
    this.#sets = this.types.map((type) => described.filter((unit) => typeOf(unit) === type).slice(0, maxSets))
  }

  /** Format that the sets define; undefined if sets are missing or broken. */
  get format(): PictureFormat | undefined {
    if (!this.#isFormatNew) return this.#format
    this.#isFormatNew = false
    const [sequence = [], picture = []] = this.#sets
    this.#format = this.#codec === 'H264' ? avcFormat(sequence, picture) : hevcFormat(this.#sets)
    return this.#format
  }

  /** Takes the parameter sets among the units of a picture. */
  note(units: readonly PictureUnit[]): void {
    const fresh = this.types.map((type) =>
      units.filter((unit) => unit.type === type).map(({ parts }) => Buffer.concat(parts)),
    )
    const at = this.types.indexOf(sequenceType[this.#codec])
    const isOther = !this.#areAlike(this.#sets[at]?.[0], fresh[at]?.[0])
    const changed = this.types.map((type, index) => {
      const [before = [], now = []] = [this.#sets[index], fresh[index]]
      return now.reduce((sets, unit) => this.#withSet(sets, type, unit), isOther && now.length > 0 ? [] : before)
    })
    if (changed.every((sets, index) => sets === this.#sets[index])) return
    this.#sets = changed
    this.#isFormatNew = true
  }

  /** Whether pictures of both sequence parameter sets can be in one file. */
  #areAlike(before: Buffer | undefined, now: Buffer | undefined): boolean {
    if (before === undefined || now === undefined || before.equals(now)) return true
    const parametersOf = this.#codec === 'H264' ? h264Parameters : h265Parameters
    const [a, b] = [parametersOf(before), parametersOf(now)]
    if (a === undefined || b === undefined) return false
    const compared = ['width', 'height', 'profile', 'chroma', 'bitDepth'] as const
    return compared.every((name) => a[name] === b[name])
  }

  /** Returns the sets with a new set, which replaces a set with the same id; the same list if the set is known. */
  #withSet(sets: readonly Buffer[], type: number, unit: Buffer): readonly Buffer[] {
    if (sets.some((each) => each.equals(unit))) return sets
    const id = setId(this.#codec, type, unit)
    const others = sets.filter((each) => setId(this.#codec, type, each) !== id)
    return [unit, ...others].slice(0, maxSets)
  }
}

/** Size of a NAL unit's length field in a file, in bytes (lengthSizeMinusOne + 1). */
const lengthBytes = 4

/**
 * Returns the format of H.264 with these parameter sets: AVCDecoderConfigurationRecord (ISO/IEC 14496-15, section
 * 5.3.3.1). Returns undefined if the sets are broken.
 * @param sequence sequence parameter sets, each a NAL unit
 * @param picture picture parameter sets, each a NAL unit
 */
function avcFormat(sequence: readonly Buffer[], picture: readonly Buffer[]): PictureFormat | undefined {
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
    parameterSets: lengthPrefixed([...sequence, ...picture].map(wholeUnit)),
  }
}

/** Types of the parameter sets of H.265 in the order of the record (ITU-T H.265, section 7.4.2.2): VPS, SPS, PPS. */
const hevcSets = [32, 33, 34] as const

/**
 * Returns the format of H.265 with these parameter sets: HEVCDecoderConfigurationRecord (ISO/IEC 14496-15, section
 * 8.3.3.1). Returns undefined if the sets are broken.
 * @param sets NAL units of VPS, SPS and PPS
 */
function hevcFormat(sets: readonly (readonly Buffer[])[]): PictureFormat | undefined {
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
  const parameterSets = lengthPrefixed(sets.flat().map(wholeUnit))
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

/** Returns a parameter set preceded by its length. */
function withLength(unit: Buffer): [Buffer, Buffer] {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(unit.length)
  return [length, unit]
}

function wholeUnit(unit: Buffer): Pick<PictureUnit, 'parts' | 'bytes'> {
  return { parts: [unit], bytes: unit.length }
}
