import { hasMarker, sequenceDistance, sequenceOf, timestampOf } from '../rtp/packet.ts'
import { isRecoveryPoint } from '../rtp/key-frame.ts'
import { nalPiecesOf, packings, type Piece } from '../rtp/nal-units.ts'
import { type FrameAssembly, largestFrame, type SourceFrame } from './frame-assembly.ts'

const startCode = Buffer.from([0, 0, 0, 1])

/** A NAL unit of a picture. */
export interface PictureUnit {
  type: number
  /** Consecutive parts of the unit, beginning with its header. */
  parts: Buffer[]
  bytes: number
}

/** Joins the units of a picture; if the result is undefined, the picture is dropped. */
export type JoinUnits = (units: readonly PictureUnit[]) => Buffer | undefined

/** Joins units in Annex B form: a start code before each unit. */
function annexB(units: readonly PictureUnit[]): Buffer {
  return Buffer.concat(units.flatMap(({ parts }) => [startCode, ...parts]))
}

/**
 * Assembles pictures of H.264 and H.265, by default in Annex B form. A picture with a missing packet is dropped
 * completely.
 */
export class AccessUnits implements FrameAssembly {
  readonly #codec: 'H264' | 'H265'
  readonly #take: (frame: SourceFrame) => void
  readonly #join: JoinUnits
  #units: PictureUnit[] = []
  #bytes = 0
  #key = false
  #timestamp = 0
  #sequence = -1
  /** Whether the last NAL unit is incomplete. */
  #open = false
  #broken = false

  /** @param join joins the units of a picture; default: in Annex B form */
  constructor(codec: 'H264' | 'H265', take: (frame: SourceFrame) => void, join: JoinUnits = annexB) {
    this.#codec = codec
    this.#take = take
    this.#join = join
  }

  push(packet: Buffer): void {
    const timestamp = timestampOf(packet)
    const sequence = sequenceOf(packet)
    const lost = this.#sequence >= 0 && sequenceDistance(this.#sequence, sequence) !== 1
    this.#sequence = sequence
    if (lost && (this.#bytes > 0 || timestamp === this.#timestamp)) this.#broken = true
    // The last packet of the previous picture was lost, or had no marker.
    if (timestamp !== this.#timestamp) this.#finish()
    this.#timestamp = timestamp
    for (const piece of nalPiecesOf(packet, packings[this.#codec])) this.#add(piece)
    if (hasMarker(packet)) this.#finish()
  }

  #add({ header, type, body, begins, ends }: Piece): void {
    if (begins) {
      this.#units.push({ type, parts: [header, body], bytes: header.length + body.length })
      this.#key ||= isKey(this.#codec, type)
    } else {
      const unit = this.#units.at(-1)
      if (!this.#open || unit === undefined) this.#broken = true
      else {
        unit.parts.push(body)
        unit.bytes += body.length
      }
    }
    this.#open = !ends
    this.#bytes += body.length
    if (this.#bytes > largestFrame) this.#broken = true
    if (this.#broken) this.#units = []
  }

  #finish(): void {
    const whole = !this.#broken && !this.#open && this.#units.length > 0
    const frame = whole ? this.#join(this.#units) : undefined
    const key = this.#key
    const recovers = frame !== undefined && this.#codec === 'H264' && this.#units.some(isRecovery)
    this.#units = []
    this.#bytes = 0
    this.#key = false
    this.#open = false
    this.#broken = false
    if (frame !== undefined) this.#take({ timestamp: this.#timestamp, frame, key, recovers })
  }
}

/** Whether a unit is a recovery point message. The first part is the header, the second the beginning of the body. */
function isRecovery({ type, parts: [, body] }: PictureUnit): boolean {
  return type === 6 && body !== undefined && isRecoveryPoint(body)
}

function isKey(codec: 'H264' | 'H265', type: number): boolean {
  return codec === 'H264' ? type === 5 : type >= 16 && type <= 21
}
