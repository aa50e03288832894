import type { PictureStream } from '../feeds/feed.ts'

/**
 * Share of the shown height that makes a stream large enough, and the lower share for the stream that is sent already.
 */
const enough = 0.8
const stillEnough = 0.65
/**
 * Assumed height of a stream of unknown height, as a share of the next larger stream's height. Second streams of
 * cameras have about a third to a half.
 */
const guess = 1 / 3

/**
 * Returns the index of the smallest stream that is large enough for the shown height, or of the largest stream if none
 * is. An unknown height counts as a third of the previous stream's height.
 * @param list largest first, not empty
 * @param height shown by the viewer, in pixels; Infinity: unknown
 * @param sent the current stream, which needs a smaller share of the shown height
 */
export function wantedIndex(list: readonly PictureStream[], height: number, sent: PictureStream | undefined): number {
  let known = 0
  let wanted = 0
  for (const [index, stream] of list.entries()) {
    known = stream.height > 0 ? stream.height : known * guess
    if (known >= height * (stream === sent ? stillEnough : enough)) wanted = index
  }
  return wanted
}

/**
 * Returns the index of the largest allowed stream. `max` itself may no longer be in the list.
 * @param list largest first, not empty
 * @param max largest stream that is allowed; undefined: all are allowed
 */
export function allowedIndex(list: readonly PictureStream[], max: PictureStream | undefined): number {
  if (max === undefined) return 0
  const index = list.indexOf(max)
  if (index >= 0) return index
  const smaller = list.findIndex(({ height }) => height > 0 && height <= max.height)
  return smaller >= 0 ? smaller : list.length - 1
}

/**
 * Returns the largest stream that a link carries, by recent bitrates, or the smallest if it carries none; undefined if
 * the list is empty.
 */
export function affordableStream(list: readonly PictureStream[], bitsPerSecond: number): PictureStream | undefined {
  return list.find(({ bitrate }) => bitrate > 0 && bitrate <= bitsPerSecond) ?? list.at(-1)
}
