import { headerExtension } from './header-extension.ts'

/** URI of the header extension with the audio level of a packet (RFC 6464). */
export const audioLevelUri = 'urn:ietf:params:rtp-hdrext:ssrc-audio-level'

/** Level of silence (RFC 6464, section 3). */
export const silentLevel = 127

/**
 * Returns the audio level of a packet in -dBov: 0 is the loudest, 127 silence; -1: the packet has no level.
 * @param id number of the extension, 1 to 14
 */
export function audioLevelOf(packet: Buffer, id: number): number {
  const element = headerExtension(packet, id)
  return element === undefined || element.length === 0 ? -1 : (element[0] ?? 0) & 0x7f
}
