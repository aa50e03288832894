import { hasMarker, sequenceDistance, sequenceOf, timestampOf } from '../rtp/packet.ts'
import { type Packing, packings, type Piece, piecesOf } from '../rtp/refragment.ts'
import { type FrameAssembly, largestFrame, type SourceFrame } from './frame-assembly.ts'

const startCode = Buffer.from([0, 0, 0, 1])

/** Pictures of H.264 and H.265 in the form of their Annexes B. One of which a packet is missing is left out whole. */
export class AccessUnits implements FrameAssembly {
  readonly #packing: Packing
  readonly #isKey: (type: number) => boolean
  readonly #take: (frame: SourceFrame) => void
  #parts: Buffer[] = []
  #bytes = 0
  #key = false
  #timestamp = 0
  #sequence = -1
  /** A NAL unit has begun and not ended. */
  #open = false
  #broken = false

  constructor(codec: 'H264' | 'H265', take: (frame: SourceFrame) => void) {
    this.#packing = packings[codec]
    this.#isKey = codec === 'H264' ? (type) => type === 5 : (type) => type >= 16 && type <= 21
    this.#take = take
  }

  push(packet: Buffer): void {
    const timestamp = timestampOf(packet)
    const sequence = sequenceOf(packet)
    const lost = this.#sequence >= 0 && sequenceDistance(this.#sequence, sequence) !== 1
    this.#sequence = sequence
    if (lost && (this.#bytes > 0 || timestamp === this.#timestamp)) this.#broken = true
    // The last packet of the picture before was lost, or had no marker.
    if (timestamp !== this.#timestamp) this.#finish()
    this.#timestamp = timestamp
    for (const piece of piecesOf(packet, this.#packing)) this.#add(piece)
    if (hasMarker(packet)) this.#finish()
  }

  #add({ header, type, body, begins, ends }: Piece): void {
    if (begins) {
      this.#parts.push(startCode, header)
      this.#key ||= this.#isKey(type)
    } else if (!this.#open) this.#broken = true
    this.#open = !ends
    this.#parts.push(body)
    this.#bytes += body.length
    if (this.#bytes > largestFrame) this.#broken = true
    if (this.#broken) this.#parts = []
  }

  #finish(): void {
    const whole = !this.#broken && !this.#open && this.#parts.length > 0
    const frame = whole ? Buffer.concat(this.#parts) : undefined
    const key = this.#key
    this.#parts = []
    this.#bytes = 0
    this.#key = false
    this.#open = false
    this.#broken = false
    if (frame !== undefined) this.#take({ timestamp: this.#timestamp, frame, key })
  }
}
