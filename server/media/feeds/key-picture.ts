import { unlessAborted } from '../../../shared/abort.ts'
import { splitUnits } from '../rtp/nal-units.ts'
import { h264Parameters } from '../rtsp/resolution.ts'
import { AccessUnits } from '../transcode/access-units.ts'
import type { Feed } from './feed.ts'
import type { KeyPicture } from './feed-tracks.ts'

/** Maximum size of a key picture in bytes. A larger picture is too expensive for a preview. */
const largest = 2 * 1024 * 1024

/**
 * Returns the newest picture of a feed. Converts the picture if browsers cannot show it and no conversion is running.
 * @throws the signal's reason
 */
export async function newestKeyPicture(feed: Feed, signal: AbortSignal): Promise<KeyPicture | undefined> {
  if (feed.videoMuted) return undefined
  const still = feed.playback.conversion?.still()
  if (still === undefined) return keyPictureOf(feed)
  const picture = await unlessAborted(still, signal)
  return feed.videoMuted ? undefined : picture
}

/**
 * Returns the newest key picture in the feed. Returns undefined for other codecs, for a feed without kept pictures or
 * muted by a host, and while a key picture is still arriving.
 */
export function keyPictureOf(feed: Feed): KeyPicture | undefined {
  if (feed.video?.codec !== 'H264' || feed.videoMuted) return undefined
  const parts: Buffer[] = []
  let whole = false
  const units = new AccessUnits('H264', ({ frame, key }) => {
    if (whole) return
    // Parameter sets may arrive as a separate picture before the key picture.
    parts.push(frame)
    whole = key
  })
  for (const packet of feed.gop) {
    // A copy, because `AccessUnits` keeps parts of its packets, and the feed owns these packets.
    units.push(Buffer.from(packet))
    if (whole) break
  }
  return whole ? keyPictureFrom(Buffer.concat(parts), feed.counts.lastKeyFrameAt) : undefined
}

/**
 * Returns a picture with its size; undefined if it lacks parameter sets or is too large.
 * @param frame H.264 Annex B
 * @param at time of arrival, in milliseconds since the epoch
 */
export function keyPictureFrom(frame: Buffer, at: number): KeyPicture | undefined {
  const size = splitUnits(frame)
    .map(h264Parameters)
    .find((parameters) => parameters !== undefined)
  if (size === undefined || frame.length > largest) return undefined
  return { frame, width: size.width, height: size.height, at }
}
