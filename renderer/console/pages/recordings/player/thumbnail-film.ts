import { fetchOwn } from '../../../../kit/transport/page-half.ts'
import { smallPicture } from '../../../../kit/media/still/small-picture.ts'

/** Width of a thumbnail in pixels. */
const width = 240

/** A small picture of a recording. */
export interface RecordedThumbnail {
  /** Data URL of a JPEG. */
  url: string
  /** Moment of the picture, in milliseconds since the epoch. */
  at: number
}

/**
 * Loads and decodes the picture of a segment at or before a time.
 * @param at seconds of media time
 * @throws Error if there is none, or the browser cannot decode it
 */
export async function recordedThumbnail(id: number, at: number, signal: AbortSignal): Promise<RecordedThumbnail> {
  const answer = await fetchOwn(`/recordings/segments/${id}/picture?at=${at.toFixed(3)}`, { signal })
  if (!answer.ok) throw new Error('there is no picture')
  const url = await smallPicture(await answer.blob(), width)
  return { url, at: Number(answer.headers.get('recording-picture-at')) }
}
