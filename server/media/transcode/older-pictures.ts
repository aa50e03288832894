import { hasMarker, payloadOf, timestampOf } from '../rtp/packet.ts'
import { type FrameAssembly, largestFrame, type SourceFrame } from './frame-assembly.ts'

type OlderCodec = 'MP4V-ES' | 'H263' | 'MPV'

/**
 * Assembles pictures whose packets are simply concatenated, with a marker on the last packet: MPEG-4 Visual (RFC 6416,
 * section 5), H.263+ (RFC 4629), and MPEG-1 and MPEG-2 video (RFC 2250, section 3).
 */
export class OlderPictures implements FrameAssembly {
  readonly #codec: OlderCodec
  readonly #take: (frame: SourceFrame) => void
  #parts: Buffer[] = []
  #bytes = 0
  #timestamp = 0

  constructor(codec: OlderCodec, take: (frame: SourceFrame) => void) {
    this.#codec = codec
    this.#take = take
  }

  push(packet: Buffer): void {
    const timestamp = timestampOf(packet)
    if (timestamp !== this.#timestamp) this.#finish()
    this.#timestamp = timestamp
    const parts = partsOf[this.#codec](payloadOf(packet))
    for (const part of parts) {
      this.#bytes += part.length
      if (this.#bytes <= largestFrame) this.#parts.push(part)
    }
    if (hasMarker(packet)) this.#finish()
  }

  #finish(): void {
    const frame = Buffer.concat(this.#parts)
    const whole = this.#bytes > 0 && this.#bytes <= largestFrame
    this.#parts = []
    this.#bytes = 0
    if (whole) this.#take({ timestamp: this.#timestamp, frame, key: isKey(this.#codec, frame) })
  }
}

const partsOf: Readonly<Record<OlderCodec, (payload: Buffer) => Buffer[]>> = {
  'MP4V-ES': (payload) => [payload],
  H263: h263Parts,
  // A header of 4 bytes, and a second header of 4 bytes if the T bit is set (MPEG-2).
  MPV: (payload) => [payload.subarray(((payload[0] ?? 0) & 0x04) === 0 ? 4 : 8)],
}

/**
 * Restores the two zero bytes of a start code, which RTP omits and flags in the header. Skips redundant picture
 * headers.
 */
function h263Parts(payload: Buffer): Buffer[] {
  if (payload.length < 3) return []
  const header = payload.readUInt16BE(0)
  const skip = 2 + ((header >> 9) & 1) + ((header >> 3) & 0x3f)
  const begins = (header & 0x0400) !== 0
  return begins ? [Buffer.alloc(2), payload.subarray(skip)] : [payload.subarray(skip)]
}

function isKey(codec: OlderCodec, frame: Buffer): boolean {
  // A key frame has a sequence header, the only place where decoding can begin.
  if (codec === 'MPV') return frame.includes(Buffer.from([0, 0, 1, 0xb3]))
  // Picture coding type after the temporal reference (ITU-T H.263, section 5.1.3); the bit is 0 in a key frame.
  if (codec === 'H263') return ((frame[4] ?? 0) & 0x02) === 0
  const at = frame.indexOf(Buffer.from([0, 0, 1, 0xb6]))
  return at >= 0 && (frame[at + 4] ?? 0xff) >> 6 === 0
}
