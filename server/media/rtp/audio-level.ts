import { headerExtension } from './header-extension.ts'

/** How loud the sound in a packet is, as a header extension (RFC 6464). */
export const audioLevelUri = 'urn:ietf:params:rtp-hdrext:ssrc-audio-level'

/** Quiet enough to be nothing (RFC 6464, section 3). */
export const silentLevel = 127

/**
 * The level that a packet tells in -dBov: 0 is the loudest, 127 silence; -1 when it tells none.
 * @param id number of the extension, 1 to 14
 */
export function audioLevelOf(packet: Buffer, id: number): number {
  const element = headerExtension(packet, id)
  return element === undefined || element.length === 0 ? -1 : (element[0] ?? 0) & 0x7f
}
