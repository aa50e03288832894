import { headerExtension } from './header-extension.ts'
import { headerLength } from './packet.ts'

/** How loud the sound in a packet is, as a header extension (RFC 6464). */
export const audioLevelUri = 'urn:ietf:params:rtp-hdrext:ssrc-audio-level'

/** Quiet enough to be nothing (RFC 6464, section 3). */
export const silentLevel = 127

/** Of a header without contributing sources and extension (RFC 3550, section 5.1). */
const fixedBytes = 12

/**
 * The level that a packet tells in -dBov: 0 is the loudest, 127 silence; -1 when it tells none.
 * @param id number of the extension, 1 to 14
 */
export function audioLevelOf(packet: Buffer, id: number): number {
  const element = headerExtension(packet, id)
  return element === undefined || element.length === 0 ? -1 : (element[0] ?? 0) & 0x7f
}

/**
 * The same packet without contributing sources and header extensions, which are between its sender and the node: the header moves up to the payload in place.
 * @param packet whose header is whole (`isRtp`)
 */
export function withoutExtension(packet: Buffer): Buffer {
  const payloadAt = headerLength(packet)
  if (payloadAt === fixedBytes) return packet
  packet[0] = (packet[0] ?? 0) & 0xe0
  packet.copy(packet, payloadAt - fixedBytes, 0, fixedBytes)
  return packet.subarray(payloadAt - fixedBytes)
}
