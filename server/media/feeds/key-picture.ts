import { h264Parameters } from '../rtsp/resolution.ts'
import { AccessUnits } from '../transcode/access-units.ts'
import type { Feed } from './feed.ts'

/** A larger one is not worth a small picture, in bytes. */
const largest = 2 * 1024 * 1024

/** The newest picture of a feed that can be decoded by itself. */
export interface KeyPicture {
  /** In the form of H.264 Annex B, with its parameter sets. */
  frame: Buffer
  /** In pixels. */
  width: number
  height: number
}

/** Undefined where there is none: other codecs, a feed that keeps no pictures or that a host has muted, and while one is coming in. */
export function keyPictureOf(feed: Feed): KeyPicture | undefined {
  if (feed.video?.codec !== 'H264' || feed.videoMuted) return undefined
  const parts: Buffer[] = []
  let whole = false
  const units = new AccessUnits('H264', ({ frame, key }) => {
    if (whole) return
    // Parameter sets may come as a picture of their own ahead of it.
    parts.push(frame)
    whole = key
  })
  for (const packet of feed.gop) {
    units.push(packet)
    if (whole) break
  }
  const frame = Buffer.concat(parts)
  const size = unitsOf(frame)
    .map(h264Parameters)
    .find((parameters) => parameters !== undefined)
  if (!whole || size === undefined || frame.length > largest) return undefined
  return { frame, width: size.width, height: size.height }
}

const startCode = Buffer.from([0, 0, 0, 1])

/** NAL units of H.264 Annex B. None holds a start code itself (ITU-T H.264, section 7.4.1). */
function unitsOf(frame: Buffer): Buffer[] {
  const units: Buffer[] = []
  let at = frame.indexOf(startCode)
  while (at >= 0) {
    const next = frame.indexOf(startCode, at + startCode.length)
    units.push(frame.subarray(at + startCode.length, next < 0 ? undefined : next))
    at = next
  }
  return units
}
