import { hasMarker, headerLength, payloadOf, sequenceDistance, sequenceOf, timestampOf } from '../rtp/packet.ts'
import { packings, type Packing } from '../rtp/refragment.ts'
import type { ParameterSets } from './parameter-sets.ts'
import { enoughFrozen } from './picture-rebuild.ts'
import { holdsStartCode } from '../rtp/annex-b.ts'
import { type PictureUnits, pictureUnits } from './picture-units.ts'

/** Packets from the beginning of a stream that are searched for start codes; later ones only at the beginning of their payload. */
const searchedPackets = 300
/** Times in which packets contradict a marker before it is no longer believed. */
const enoughContradictions = 2
/** How far behind the newest packet one counts as late, in numbers; further back, the source has restarted. */
const maxLate = 1_000

/** Checks whether packets of H.264 and H.265 are as RFC 6184 and RFC 7798 have them: packing, markers, timestamps. */
export class PacketCheck {
  readonly #format: { packing: Packing; units: PictureUnits; sets: Pick<ParameterSets, 'mayHaveFields'> }
  #packets = 0
  #sequence = -1
  #timestamp = -1
  /** The last packet had a marker. */
  #marked = false
  #hasPicture = false
  #contradictions = 0
  #frozen = 0

  /** @param sets that are known of the stream */
  constructor(codec: 'H264' | 'H265', sets: Pick<ParameterSets, 'mayHaveFields'>) {
    this.#format = { packing: packings[codec], units: pictureUnits[codec], sets }
  }

  /** Whether the last packet followed the one before it. */
  isInOrder = true

  /** Whether nothing contradicts markers and timestamps since the beginning, or since `forget`. */
  get isFaultless(): boolean {
    return this.#contradictions === 0 && this.#frozen === 0
  }

  /** Forgets what was found until now. */
  forget(): void {
    this.#packets = 0
    this.#contradictions = 0
    this.#frozen = 0
  }

  /** Whether pictures share a timestamp that are no fields of one frame. */
  get isFrozen(): boolean {
    return this.#frozen > 0 && (this.#frozen >= enoughFrozen || !this.#format.sets.mayHaveFields)
  }

  /** Takes a packet that is no padding. Returns whether it, and those before it, can be passed on as they are. */
  isClean(packet: Buffer): boolean {
    const at = headerLength(packet)
    this.#packets += 1
    return this.#isReadable(packet, at) && !this.#isContradicted(packet, at)
  }

  /** @param at of the payload */
  #isReadable(packet: Buffer, at: number): boolean {
    const { header, typeOf, fragment, aggregation } = this.#format.packing
    const type = typeOf(packet[at] ?? 0)
    // Nothing in it: a receiver would count it as a part of the picture.
    if (packet.length - at <= header + (type === fragment ? 1 : 0)) return false
    // Annex B: a start code in the place of a unit's header.
    if ((packet[at] ?? 1) === 0 && (packet[at + 1] ?? 1) === 0) return false
    // Lengths of an aggregate may look like a start code.
    if (type === aggregation) return isFilled(payloadOf(packet).subarray(header))
    return this.#packets > searchedPackets || !holdsStartCode(packet.subarray(at))
  }

  /** Compares a packet with those before it. Returns whether markers or timestamps are not to be believed. */
  #isContradicted(packet: Buffer, at: number): boolean {
    const { packing, units: facts } = this.#format
    const { header, typeOf, fragment, aggregation } = packing
    const sequence = sequenceOf(packet)
    const timestamp = timestampOf(packet)
    const ahead = this.#sequence < 0 ? 1 : sequenceDistance(this.#sequence, sequence)
    this.isInOrder = ahead === 1
    // Late, over UDP or as a retransmission.
    if (ahead <= 0 && ahead > -maxLate) return false
    const follows = this.#sequence >= 0 && ahead === 1
    const isFragment = typeOf(packet[at] ?? 0) === fragment
    const flags = packet[at + header] ?? 0
    const type = isFragment ? flags & (header === 1 ? 0x1f : 0x3f) : typeOf(packet[at] ?? 0)
    const isStart = !isFragment || (flags & 0x80) !== 0
    const body = at + header + (isFragment ? 1 : 0)
    const begins = isStart && facts.beginsPicture(type, packet[body] ?? 0)
    if (timestamp !== this.#timestamp) {
      if (follows && !this.#marked && this.#hasPicture) this.#contradictions += 1
      this.#hasPicture = false
      this.#frozen = 0
    } else if (follows && facts.isPicture(type)) {
      // Another picture of the same time, or another part of a picture that had ended.
      if (begins && (this.#marked || this.#hasPicture)) this.#frozen += 1
      else if (this.#marked) this.#contradictions += 1
    }
    // A marker on sets or messages ends no picture.
    const isPicture = facts.isPicture(type) || type === aggregation
    if (hasMarker(packet) && !isPicture && !this.#hasPicture) this.#contradictions += 1
    this.#hasPicture ||= isPicture
    this.#marked = hasMarker(packet)
    this.#sequence = sequence
    this.#timestamp = timestamp
    return this.#contradictions >= enoughContradictions || this.isFrozen
  }
}

/** Whether the units of an aggregate fill it, and none is empty: browsers drop any other whole. */
function isFilled(units: Buffer): boolean {
  let at = 0
  while (at + 2 < units.length) {
    const size = units.readUInt16BE(at)
    if (size === 0) return false
    at += 2 + size
  }
  return at === units.length
}
