import { vp8PayloadAt } from '../rtp/key-frame.ts'
import { hasMarker, payloadOf, sequenceDistance, sequenceOf, timestampOf } from '../rtp/packet.ts'
import { vp8PictureSize } from '../rtp/picture-size.ts'
import { KeylessTime } from '../rtp/recovery-points.ts'
import type { RawFormat } from '../feeds/raw-tap.ts'
import { describedUnits } from '../rtsp/resolution.ts'
import { AccessUnits, type JoinUnits, type PictureUnit } from '../transcode/access-units.ts'
import { type FrameAssembly, largestFrame, type SourceFrame } from '../transcode/frame-assembly.ts'
import { FormatSets } from './format-sets.ts'
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
