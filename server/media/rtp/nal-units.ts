import { hasMarker, payloadOf, sequenceDistance, sequenceOf, setMarker } from './packet.ts'

/** NAL units of H.264 and H.265: types, start codes of Annex B, and packing into RTP packets (RFC 6184, RFC 7798). */

/** Properties of NAL unit types that decide where a picture begins and what it requires. */
export interface PictureUnits {
  /** Whether a unit is a part of a picture (VCL). */
  isPicture(type: number): boolean
  /** Whether a unit is the first slice of a picture. @param first byte after the unit's header */
  beginsPicture(type: number, first: number): boolean
  /**
   * Whether a unit that is not part of a picture precedes the picture that it belongs to (ITU-T H.264, section
   * 7.4.1.2.3; H.265, section 7.4.2.4.4).
   */
  precedesPicture(type: number): boolean
  isKey(type: number): boolean
  /** Types of parameter sets, in the order required by a decoder. */
  readonly parameterSets: readonly number[]
  /** Whether a type is defined; a decoder ignores other types. */
  isDefined(type: number): boolean
}

/** Whether the first bit is set: first_mb_in_slice is ue(v) 0, or first_slice_segment_in_pic_flag is 1. */
const firstBit = (first: number): boolean => (first & 0x80) !== 0

export const pictureUnits: Readonly<Record<'H264' | 'H265', PictureUnits>> = {
  // ITU-T H.264, table 7-1 and section 7.3.3.
  H264: {
    isPicture: (type) => type >= 1 && type <= 5,
    beginsPicture: (type, first) => (type === 1 || type === 2 || type === 5) && firstBit(first),
    precedesPicture: (type) => type >= 6 && type <= 9,
    isKey: (type) => type === 5,
    parameterSets: [7, 8],
    isDefined: (type) => type >= 1 && type <= 23,
  },
  // ITU-T H.265, table 7-1 and section 7.3.6.1.
  H265: {
    isPicture: (type) => type <= 31,
    beginsPicture: (type, first) => type <= 31 && firstBit(first),
    precedesPicture: (type) => (type >= 32 && type <= 35) || type === 39,
    isKey: (type) => type >= 16 && type <= 21,
    parameterSets: [32, 33, 34],
    isDefined: (type) => type <= 47,
  },
}

const shortStartCode = Buffer.from([0, 0, 1])

/** Whether bytes contain a start code of Annex B. A NAL unit contains none. */
export function holdsStartCode(bytes: Buffer): boolean {
  return bytes.includes(shortStartCode)
}

/**
 * Splits NAL units joined by start codes (ITU-T H.264 and H.265, annex B). Bytes without start codes are returned as
 * one unit.
 */
export function splitUnits(bytes: Buffer): Buffer[] {
  const units: Buffer[] = []
  let at = 0
  while (at <= bytes.length) {
    const code = bytes.indexOf(shortStartCode, at)
    let end = code < 0 ? bytes.length : code
    // Zero bytes before a start code belong to the start code.
    if (code >= 0) while (end > at && bytes[end - 1] === 0) end -= 1
    if (end > at) units.push(bytes.subarray(at, end))
    if (code < 0) break
    at = code + shortStartCode.length
  }
  return units
}

/** Maximum number of entries read from a list of parameter sets. */
const maxSets = 8

/**
 * Returns the NAL units in the first eight entries of a base64 list (RFC 6184, section 8.1; RFC 7798, section 7.1),
 * without start codes and empty units.
 */
export function parameterSetsOf(list: string): Buffer[] {
  return list.split(',', maxSets).flatMap((text) => splitUnits(Buffer.from(text.trim(), 'base64')))
}

/** Maximum payload of a fragment, in bytes. */
export const maxFragment = 1_180

const fixedHeader = 12

/** Packetization of one codec's NAL units. */
export interface Packing {
  header: 1 | 2
  readonly typeOf: (first: number) => number
  readonly withType: (first: number, type: number) => number
  /** Payload types of aggregation packets and of fragments; the first type that is not a NAL unit. */
  aggregation: number
  fragment: number
  reserved: number
}

export const packings: Readonly<Record<'H264' | 'H265', Packing>> = {
  // RFC 6184, sections 5.2, 5.7.1 and 5.8.
  H264: {
    header: 1,
    typeOf: (first) => first & 0x1f,
    withType: (first, type) => (first & 0xe0) | type,
    aggregation: 24,
    fragment: 28,
    reserved: 24,
  },
  // RFC 7798, sections 4.4.2 and 4.4.3.
  H265: {
    header: 2,
    typeOf: (first) => (first >> 1) & 0x3f,
    withType: (first, type) => (first & 0x81) | (type << 1),
    aggregation: 48,
    fragment: 49,
    reserved: 48,
  },
}

/** A whole NAL unit from a packet, or a fragment of a NAL unit. */
export interface Piece {
  /** Header of the NAL unit, with the type of the unit. */
  header: Buffer
  type: number
  body: Buffer
  /** Whether the unit begins and ends in this piece. */
  begins: boolean
  ends: boolean
}

/** Returns the content of a packet in pieces; empty if it cannot be split. */
export function nalPiecesOf(packet: Buffer, packing: Packing): Piece[] {
  const payload = payloadOf(packet)
  const { header, fragment, aggregation, reserved } = packing
  if (payload.length < header + 2) return []
  const type = packing.typeOf(payload[0] ?? 0)
  if (type === aggregation) return units(payload, packing)
  if (type < reserved) return [unitPiece(payload, packing)]
  if (type !== fragment) return []
  const flags = payload[header] ?? 0
  const original = flags & (header === 1 ? 0x1f : 0x3f)
  const unitHeader = Buffer.from(payload.subarray(0, header))
  unitHeader[0] = packing.withType(unitHeader[0] ?? 0, original)
  const body = payload.subarray(header + 1)
  return [{ header: unitHeader, type: original, body, begins: (flags & 0x80) !== 0, ends: (flags & 0x40) !== 0 }]
}

function unitPiece(unit: Buffer, { header, typeOf }: Packing): Piece {
  const type = typeOf(unit[0] ?? 0)
  return { header: unit.subarray(0, header), type, body: unit.subarray(header), begins: true, ends: true }
}

/** Returns the NAL units of an aggregation packet, up to a broken length. */
function units(payload: Buffer, packing: Packing): Piece[] {
  const found: Piece[] = []
  for (let at = packing.header; at + 2 < payload.length; ) {
    const length = payload.readUInt16BE(at)
    const unit = payload.subarray(at + 2, at + 2 + length)
    if (unit.length !== length || length <= packing.header) break
    found.push(unitPiece(unit, packing))
    at += 2 + length
  }
  return found
}

/** Splits a piece evenly, so that no part is much shorter than the others. */
function split(piece: Piece, { header }: Packing): Piece[] {
  const { body } = piece
  if (piece.begins && piece.ends && body.length + header <= maxFragment) return [piece]
  const count = Math.ceil(body.length / maxFragment)
  const size = Math.ceil(body.length / count)
  return Array.from({ length: count }, (_, index) => ({
    ...piece,
    body: body.subarray(index * size, (index + 1) * size),
    begins: piece.begins && index === 0,
    ends: piece.ends && index === count - 1,
  }))
}

/**
 * Packs the units of a picture, each in one packet or in fragments.
 * @param header RTP header of the packets: 12 bytes, with the timestamp; only the last packet gets the marker
 * @param first sequence number of the first packet
 * @param isWhole whether the units end the picture
 * @returns the packets and the next number
 */
export function unitPackets(
  units: readonly Buffer[],
  header: Buffer,
  first: number,
  packing: Packing,
  isWhole = true,
): { packets: Buffer[]; next: number } {
  const pieces = units.flatMap((unit) => split(unitPiece(unit, packing), packing))
  const packets = pieces.map((piece, index) => {
    const packet = fragmentPacket(header, piece, packing, false)
    packet.writeUInt16BE((first + index) & 0xffff, 2)
    if (isWhole && index === pieces.length - 1) setMarker(packet)
    return packet
  })
  return { packets, next: (first + packets.length) & 0xffff }
}

/**
 * Packs short units in one aggregation packet (RFC 6184, section 5.7.1; RFC 7798, section 4.4.2). Returns undefined
 * without units, or if the packet would be too long.
 * @param header as in `unitPackets`
 */
export function aggregatePacket(units: readonly Buffer[], header: Buffer, packing: Packing): Buffer | undefined {
  const bytes = packing.header + units.reduce((sum, { length }) => sum + 2 + length, 0)
  const [first] = units
  if (first === undefined || bytes > maxFragment) return undefined
  const packet = Buffer.allocUnsafe(fixedHeader + bytes)
  header.copy(packet, 0, 0, fixedHeader)
  packet[0] = 0x80
  packet[1] = (header[1] ?? 0) & 0x7f
  first.copy(packet, fixedHeader, 0, packing.header)
  packet[fixedHeader] = packing.withType(first[0] ?? 0, packing.aggregation)
  let at = fixedHeader + packing.header
  for (const unit of units) {
    at = packet.writeUInt16BE(unit.length, at)
    at += unit.copy(packet, at)
  }
  return packet
}

/** Builds a packet for a piece. The marker stays on the last packet of the picture. */
function fragmentPacket(
  source: Buffer,
  piece: Piece,
  { header, fragment, withType }: Packing,
  isLast: boolean,
): Buffer {
  const whole = piece.begins && piece.ends
  const packet = Buffer.allocUnsafe(fixedHeader + header + (whole ? 0 : 1) + piece.body.length)
  source.copy(packet, 0, 0, fixedHeader)
  packet[0] = 0x80
  packet[1] = ((source[1] ?? 0) & 0x7f) | (isLast && hasMarker(source) ? 0x80 : 0)
  piece.header.copy(packet, fixedHeader)
  if (!whole) {
    packet[fixedHeader] = withType(piece.header[0] ?? 0, fragment)
    packet[fixedHeader + header] = piece.type | (piece.begins ? 0x80 : 0) | (piece.ends ? 0x40 : 0)
  }
  piece.body.copy(packet, packet.length - piece.body.length)
  return packet
}

/**
 * Maximum size of a packet that is sent unchanged, in bytes. With the SRTP tag and the headers of IPv6 and UDP, such a
 * packet fits an Ethernet frame and most tunnels. Packets of cameras are commonly not larger.
 */
const maxBytes = 1_400
/** Backward jump in sequence numbers above which a source has restarted. */
const widestGap = 1_000

/**
 * Splits packets that are too long for the path to a browser into fragmentation units; cameras send up to 64 kB over
 * TCP. Other packets are unchanged except for their numbers, which are shifted.
 */
export class Refragmentation {
  readonly #packing: Packing
  readonly #next: (packet: Buffer) => void
  #offset = 0
  /** Source number of the last split packet, or a later number; -1: no packet was split yet. */
  #splitAt = -1

  /** @param next takes the packets and owns them from then on */
  constructor(codec: 'H264' | 'H265', next: (packet: Buffer) => void) {
    this.#packing = packings[codec]
    this.#next = next
  }

  push(packet: Buffer): void {
    if (this.#splitAt < 0 && packet.length <= maxBytes) return this.#next(packet)
    const sequence = sequenceOf(packet)
    // A late UDP packet: its number was assigned to a fragment.
    if (this.#splitAt >= 0 && this.#isLate(sequence)) return
    const pieces = packet.length <= maxBytes ? [] : fragments(packet, this.#packing)
    if (pieces.length === 0) return this.#send(packet, sequence)
    for (const [index, piece] of pieces.entries()) {
      const isLast = index === pieces.length - 1
      this.#send(fragmentPacket(packet, piece, this.#packing, isLast), sequence + index)
    }
    this.#splitAt = sequence
    this.#offset = (this.#offset + pieces.length - 1) & 0xffff
  }

  #isLate(sequence: number): boolean {
    const ahead = sequenceDistance(this.#splitAt, sequence)
    // Moved forward, so that the distance stays in range when numbers wrap around.
    if (ahead > widestGap) this.#splitAt = (sequence - widestGap) & 0xffff
    return ahead <= 0 && ahead > -widestGap
  }

  #send(packet: Buffer, sequence: number): void {
    packet.writeUInt16BE((sequence + this.#offset) & 0xffff, 2)
    this.#next(packet)
  }
}

/** Returns the content of a long packet in pieces of at most `maxFragment` bytes; empty if it cannot be split. */
function fragments(packet: Buffer, packing: Packing): Piece[] {
  return nalPiecesOf(packet, packing).flatMap((piece) => split(piece, packing))
}
