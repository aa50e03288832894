import { vp8PayloadAt } from '../rtp/key-frame.ts'
import { hasMarker, payloadOf, sequenceDistance, sequenceOf, timestampOf } from '../rtp/packet.ts'
import { vp8PictureSize } from '../rtp/picture-size.ts'
import type { RawFormat } from '../feeds/raw-tap.ts'
import { describedUnits } from '../rtsp/resolution.ts'
import { AccessUnits, type JoinUnits, type PictureUnit } from '../transcode/access-units.ts'
import { type FrameAssembly, largestFrame, type SourceFrame } from '../transcode/frame-assembly.ts'
import { avcFormat, hevcFormat } from './decoder-configuration.ts'
import type { PictureFormat } from './track-format.ts'

/** A picture as it lies in a file. */
export interface AssembledPicture extends SourceFrame {
  /** Format from here on; key frames only. */
  format: PictureFormat | undefined
}

/** Puts pictures together for a file; undefined for a codec that is not recorded. */
export function pictureAssembly(
  format: RawFormat,
  take: (picture: AssembledPicture) => void,
): FrameAssembly | undefined {
  const { codec, clockRate, parameters } = format
  if (clockRate !== 90_000 || parameters.get('packetization-mode') === '2') return undefined
  if (codec === 'H264' || codec === 'H265') return unitPictures(codec, describedUnits(format), take)
  return codec === 'VP8' ? new Vp8Pictures(take) : undefined
}

/** Most parameter sets of one kind that are kept. */
const maxSets = 8

/** Types of parameter sets, in the order in which decoder configurations hold them. */
const setTypes = { H264: [7, 8], H265: [32, 33, 34] } as const

/** Pictures of NAL units, each behind its length; parameter sets are taken out of them and go into the format. */
function unitPictures(
  codec: 'H264' | 'H265',
  described: readonly Buffer[],
  take: (picture: AssembledPicture) => void,
): FrameAssembly {
  const types: readonly number[] = setTypes[codec]
  const typeOf = (unit: Buffer): number => (codec === 'H264' ? (unit[0] ?? 0) & 0x1f : ((unit[0] ?? 0) >> 1) & 0x3f)
  let sets = types.map((type) => described.filter((unit) => typeOf(unit) === type).slice(0, maxSets))
  let format: PictureFormat | undefined
  let isFormatNew = true
  const isParameterSet = ({ type }: PictureUnit): boolean => types.includes(type)
  const noteSets = (units: readonly PictureUnit[]): void => {
    const fresh = types.map((type) =>
      units.filter((unit) => unit.type === type).map(({ parts }) => Buffer.concat(parts)),
    )
    const changed = sets.map((before, index) => {
      const now = unique(fresh[index] ?? []).slice(0, maxSets)
      return now.length === 0 || isSameList(before, now) ? before : now
    })
    if (changed.some((list, index) => list !== sets[index])) {
      sets = changed
      isFormatNew = true
    }
  }
  const join: JoinUnits = (units) => {
    if (units.some(isParameterSet)) noteSets(units)
    const pictures = units.filter(
      (unit) => !isParameterSet(unit) && !isDelimiter(codec, unit) && !isUserData(codec, unit),
    )
    return pictures.length === 0 ? undefined : lengthPrefixed(pictures)
  }
  return new AccessUnits(
    codec,
    (frame) => {
      if (!frame.key) return take({ ...frame, format: undefined })
      if (isFormatNew) format = codec === 'H264' ? avcFormat(sets[0] ?? [], sets[1] ?? []) : hevcFormat(sets)
      isFormatNew = false
      take({ ...frame, format })
    },
    join,
  )
}

/** Access unit delimiters: a file has none of the places that they mark. */
function isDelimiter(codec: 'H264' | 'H265', { type }: PictureUnit): boolean {
  return type === (codec === 'H264' ? 9 : 35)
}

/**
 * Private data of an encoder, which says how it is set (user_data_unregistered: ITU-T H.264, section D.1.6; H.265, section D.2.6): no decoder needs it, and tools take its
 * pictures for such with captions.
 */
function isUserData(codec: 'H264' | 'H265', { type, parts: [header, body] }: PictureUnit): boolean {
  const isMessage = codec === 'H264' ? type === 6 : type === 39
  return isMessage && header !== undefined && body?.[0] === 5
}

function lengthPrefixed(units: readonly PictureUnit[]): Buffer {
  const total = units.reduce((sum, { bytes }) => sum + 4 + bytes, 0)
  const frame = Buffer.allocUnsafe(total)
  let at = 0
  for (const { parts, bytes } of units) {
    frame.writeUInt32BE(bytes, at)
    at += 4
    for (const part of parts) at += part.copy(frame, at)
  }
  return frame
}

function unique(units: readonly Buffer[]): Buffer[] {
  return units.filter((unit, index) => units.findIndex((other) => other.equals(unit)) === index)
}

function isSameList(a: readonly Buffer[], b: readonly Buffer[]): boolean {
  return a.length === b.length && a.every((unit, index) => unit.equals(b[index] ?? Buffer.alloc(0)))
}

/** Pictures of VP8 (RFC 7741). One of which a packet is missing is left out whole. */
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
    // Padding.
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
