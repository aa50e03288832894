import { hasMarker, payloadOf, sequenceDistance, sequenceOf, setMarker } from './packet.ts'

/**
 * Longest packet that goes on as it is, in bytes: with SRTP's tag and the headers of IPv6 and UDP it fits an Ethernet frame and most tunnels into the house.
 * Cameras commonly send up to so much.
 */
const maxBytes = 1_400
/** Longest payload of a fragment, in bytes. */
export const maxFragment = 1_180

/** Jump backwards after which a source counts as restarted. */
const widestGap = 1_000

const fixedHeader = 12

/** How one codec's NAL units are packed. */
export interface Packing {
  /** Bytes of a NAL unit's header. */
  header: 1 | 2
  readonly typeOf: (first: number) => number
  readonly withType: (first: number, type: number) => number
  /** Payload types that aggregate units, and that carry a fragment of one; the first type that is no NAL unit. */
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

/** A NAL unit or a fragment of one, from a packet. */
export interface Piece {
  /** Its NAL unit's header, with the type of the unit. */
  header: Buffer
  type: number
  body: Buffer
  /** Whether the unit begins and ends with it. */
  begins: boolean
  ends: boolean
}

/**
 * Splits packets that are too long for the way to a browser into fragmentation units; cameras send up to 64 kB over TCP. All others pass untouched, but for
 * their numbers, which move up.
 */
export class Refragmentation {
  readonly #packing: Packing
  readonly #next: (packet: Buffer) => void
  #offset = 0
  /** The source's number of the last packet that was split, or a later one; -1: none yet. */
  #splitAt = -1

  /** @param next takes the packets, which are its own from then on */
  constructor(codec: 'H264' | 'H265', next: (packet: Buffer) => void) {
    this.#packing = packings[codec]
    this.#next = next
  }

  push(packet: Buffer): void {
    if (this.#splitAt < 0 && packet.length <= maxBytes) return this.#next(packet)
    const sequence = sequenceOf(packet)
    // Late, over UDP: its number was given to a fragment.
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
    // It stays near: numbers come round again.
    if (ahead > widestGap) this.#splitAt = (sequence - widestGap) & 0xffff
    return ahead <= 0 && ahead > -widestGap
  }

  #send(packet: Buffer, sequence: number): void {
    packet.writeUInt16BE((sequence + this.#offset) & 0xffff, 2)
    this.#next(packet)
  }
}

/** Content of a long packet in pieces that are short enough; empty when it cannot be split. */
function fragments(packet: Buffer, packing: Packing): Piece[] {
  return piecesOf(packet, packing).flatMap((piece) => split(piece, packing))
}

/** Content of a packet in pieces; empty when it cannot be split. */
export function piecesOf(packet: Buffer, packing: Packing): Piece[] {
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

/** The NAL units of an aggregation packet; those before a broken length. */
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

/** Even pieces: none is much shorter than the others. */
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
 * Packs the units of a picture, each in a packet or in fragments.
 * @param header of the packets: 12 bytes, with the timestamp; the marker is set on the last packet alone
 * @param first number
 * @param isWhole the units end the picture
 * @returns the packets, and the number that follows
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
 * Packs short units in one aggregation packet (RFC 6184, section 5.7.1; RFC 7798, section 4.4.2); undefined when it would be too long.
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

/** The marker stays with the last packet of the picture. */
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
