import { headerLength } from './packet.ts'

/** Size of a header without contributing sources and extension (RFC 3550, section 5.1). */
const fixedBytes = 12
/** Identifiers of the one-byte form (RFC 8285, section 4.2) and the two-byte form (section 4.3). */
const oneByteHeads = 0xbede
const twoByteHeads = 0x1000
/** Id that ends the list of elements in the one-byte form. */
const reservedId = 15

/**
 * Returns the content of the header extension with this number, as a view into the packet; undefined if there is none.
 * @param id negotiated number, 1 to 14
 */
export function headerExtension(packet: Buffer, id: number): Buffer | undefined {
  const first = packet[0] ?? 0
  const end = headerLength(packet)
  if ((first & 0x10) === 0 || end > packet.length) return undefined
  const formAt = fixedBytes + (first & 0x0f) * 4
  const form = packet.readUInt16BE(formAt)
  const long = (form & 0xfff0) === twoByteHeads
  if (!long && form !== oneByteHeads) return undefined
  for (let at = formAt + 4; at < end; ) {
    const head = packet[at] ?? 0
    at += 1
    // Padding between elements.
    if (head === 0) continue
    const found = long ? head : head >> 4
    if (!long && found === reservedId) return undefined
    const length = long ? (packet[at] ?? 0) : (head & 0x0f) + 1
    if (long) at += 1
    if (found === id) return at + length <= end ? packet.subarray(at, at + length) : undefined
    at += length
  }
  return undefined
}

/**
 * Returns the packet without contributing sources and header extensions, which concern only its sender and the node.
 * Moves the header up to the payload in place.
 * @param packet a packet with a complete header (`isRtp`)
 */
export function withoutExtension(packet: Buffer): Buffer {
  const payloadAt = headerLength(packet)
  if (payloadAt === fixedBytes) return packet
  packet[0] = (packet[0] ?? 0) & 0xe0
  packet.copy(packet, payloadAt - fixedBytes, 0, fixedBytes)
  return packet.subarray(payloadAt - fixedBytes)
}
