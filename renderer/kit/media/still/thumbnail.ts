import { type KeyFrame, mp4OfPicture } from './mp4-picture.ts'
import { smallPicture } from './small-picture.ts'

/** Size of a thumbnail in pixels: twice its display size, for high-density screens. */
const width = 320

/**
 * Makes a small JPEG of a picture, as a data URL.
 * @throws Error if the browser cannot decode it
 */
export async function thumbnail(picture: KeyFrame): Promise<string> {
  const film = mp4OfPicture(picture)
  if (film === undefined) throw new Error('the picture lacks its parameter sets')
  return await smallPicture(film, width)
}
