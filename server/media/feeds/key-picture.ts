import { unlessAborted } from '../../../shared/abort.ts'
import { h264Parameters } from '../rtsp/resolution.ts'
import { AccessUnits } from '../transcode/access-units.ts'
import type { Feed } from './feed.ts'
import type { KeyPicture } from './feed-format.ts'

/** A larger one is not worth a small picture, in bytes. */
const largest = 2 * 1024 * 1024

/**
 * The newest picture of a feed, made small where browsers would not show it as it is and nobody watches.
 * @throws the signal's reason
 */
export async function newestKeyPicture(feed: Feed, signal: AbortSignal): Promise<KeyPicture | undefined> {
  if (feed.videoMuted) return undefined
  const still = feed.playback.conversion?.still()
  if (still === undefined) return keyPictureOf(feed)
  const picture = await unlessAborted(still, signal)
  return feed.videoMuted ? undefined : picture
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
    // The unit has the bytes of its packets: these are the feed's.
    units.push(Buffer.from(packet))
    if (whole) break
  }
  return whole ? keyPictureFrom(Buffer.concat(parts), feed.counts.lastKeyFrameAt) : undefined
}

/**
 * A picture with its size; undefined where it lacks parameter sets, or is not worth it.
 * @param frame in the form of H.264 Annex B
 * @param at when it came, milliseconds since the epoch
 */
export function keyPictureFrom(frame: Buffer, at: number): KeyPicture | undefined {
  const size = unitsOf(frame)
    .map(h264Parameters)
    .find((parameters) => parameters !== undefined)
  if (size === undefined || frame.length > largest) return undefined
  return { frame, width: size.width, height: size.height, at }
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
