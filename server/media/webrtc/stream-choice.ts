import type { PictureStream } from '../feeds/feed.ts'

/** A stream is large enough where it has this share of the height that the viewer shows; one that is sent already where it has a little less. */
const enough = 0.8
const stillEnough = 0.65
/** Height of a stream that was never seen, in parts of the next larger one's: second streams of cameras are some third or half. */
const guess = 1 / 3

/**
 * The smallest stream that is large enough for how the viewer shows it, the largest where none is. Heights that are not known count as a third of the one before.
 * @param list the largest first, not empty
 * @param height that the viewer shows it in, in pixels; Infinity: not known
 * @param sent already: it is not left for little
 * @returns its index
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
 * The largest stream that is allowed, where one that may have gone meanwhile is the largest.
 * @param list the largest first, not empty
 * @param most undefined: all are allowed
 * @returns its index
 */
export function allowedIndex(list: readonly PictureStream[], most: PictureStream | undefined): number {
  if (most === undefined) return 0
  const index = list.indexOf(most)
  if (index >= 0) return index
  const smaller = list.findIndex(({ height }) => height > 0 && height <= most.height)
  return smaller >= 0 ? smaller : list.length - 1
}

/** The largest of some streams that a link carries, by what they were of late; the smallest where none is. Undefined where there are none. */
export function affordableStream(list: readonly PictureStream[], bitsPerSecond: number): PictureStream | undefined {
  return list.find(({ bitrate }) => bitrate > 0 && bitrate <= bitsPerSecond) ?? list.at(-1)
}
