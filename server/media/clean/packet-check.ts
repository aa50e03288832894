import { hasMarker, headerLength, payloadOf, sequenceDistance, sequenceOf, timestampOf } from '../rtp/packet.ts'
import { holdsStartCode, type Packing, packings, type PictureUnits, pictureUnits } from '../rtp/nal-units.ts'
import type { ParameterSets } from './parameter-sets.ts'
import { enoughFrozen } from './picture-rebuild.ts'

/**
 * Number of packets at the beginning of a stream that are searched for start codes completely. In later packets only
 * the first payload bytes are checked.
 */
const searchedPackets = 300
/** Number of contradictions after which markers are no longer trusted. */
const enoughContradictions = 2
/** Maximum distance of a late packet behind the newest, in sequence numbers. Larger distances mean a restart. */
const maxLate = 1_000

/** Checks whether packets of H.264 and H.265 conform to RFC 6184 and RFC 7798: packing, markers, timestamps. */
export class PacketCheck {
  readonly #format: { packing: Packing; units: PictureUnits; sets: Pick<ParameterSets, 'mayHaveFields'> }
  #packets = 0
  #sequence = -1
  #timestamp = -1
  /** Whether the last packet had a marker. */
  #marked = false
  #hasPicture = false
  #contradictions = 0
  #frozen = 0

  /** @param sets known parameter sets of the stream */
  constructor(codec: 'H264' | 'H265', sets: Pick<ParameterSets, 'mayHaveFields'>) {
    this.#format = { packing: packings[codec], units: pictureUnits[codec], sets }
  }

  /** Whether the last packet directly followed the previous one. */
  isInOrder = true

  /** Whether no packet contradicted markers or timestamps since the beginning or the last call of `forget`. */
  get isFaultless(): boolean {
    return this.#contradictions === 0 && this.#frozen === 0
  }

  /** Resets the counts of packets and faults. */
  forget(): void {
    this.#packets = 0
    this.#contradictions = 0
    this.#frozen = 0
  }

  /** Whether pictures share a timestamp without being fields of one frame. */
  get isFrozen(): boolean {
    return this.#frozen > 0 && (this.#frozen >= enoughFrozen || !this.#format.sets.mayHaveFields)
  }

  /**
   * Returns whether a packet conforms by itself and compared with the previous packets, so that it can be sent
   * unchanged. Must not be called for padding.
   */
  isClean(packet: Buffer): boolean {
    const at = headerLength(packet)
    this.#packets += 1
    return this.#isReadable(packet, at) && !this.#isContradicted(packet, at)
  }

  /** @param at offset of the payload */
  #isReadable(packet: Buffer, at: number): boolean {
    const { header, typeOf, fragment, aggregation } = this.#format.packing
    const type = typeOf(packet[at] ?? 0)
    // A packet without content would count as a part of the picture at the receiver.
    if (packet.length - at <= header + (type === fragment ? 1 : 0)) return false
    // Annex B: a start code instead of a unit header.
    if ((packet[at] ?? 1) === 0 && (packet[at + 1] ?? 1) === 0) return false
    // Lengths inside an aggregate may look like a start code.
    if (type === aggregation) return isFilled(payloadOf(packet).subarray(header))
    return this.#packets > searchedPackets || !holdsStartCode(packet.subarray(at))
  }

  /** Compares a packet with the previous packets. Returns whether markers or timestamps are unreliable. */
  #isContradicted(packet: Buffer, at: number): boolean {
    const { packing, units: facts } = this.#format
    const { header, typeOf, fragment, aggregation } = packing
    const sequence = sequenceOf(packet)
    const timestamp = timestampOf(packet)
    const ahead = this.#sequence < 0 ? 1 : sequenceDistance(this.#sequence, sequence)
    this.isInOrder = ahead === 1
    // A late UDP packet, or a retransmission.
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
      // Another picture with the same timestamp, or another part of a picture that had ended.
      if (begins && (this.#marked || this.#hasPicture)) this.#frozen += 1
      else if (this.#marked) this.#contradictions += 1
    }
    // A marker on parameter sets or messages does not end a picture.
    const isPicture = facts.isPicture(type) || type === aggregation
    if (hasMarker(packet) && !isPicture && !this.#hasPicture) this.#contradictions += 1
    this.#hasPicture ||= isPicture
    this.#marked = hasMarker(packet)
    this.#sequence = sequence
    this.#timestamp = timestamp
    return this.#contradictions >= enoughContradictions || this.isFrozen
  }
}

/** Whether the units fill the aggregate and none is empty: browsers drop any other aggregate completely. */
function isFilled(units: Buffer): boolean {
  let at = 0
  while (at + 2 < units.length) {
    const size = units.readUInt16BE(at)
    if (size === 0) return false
    at += 2 + size
  }
  return at === units.length
}
