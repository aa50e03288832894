import { type KeyFrame, mp4OfPicture } from './mp4-picture.ts'

/** Size of a thumbnail in pixels: twice what a list shows, for screens that are that fine. */
const width = 320
const quality = 0.7
/** A picture that is not decoded by then never is. */
const decodeMs = 5_000

/**
 * A small JPEG of a picture, as a data URL.
 * @throws Error when the browser cannot decode it
 */
export async function thumbnail(picture: KeyFrame): Promise<string> {
  const film = mp4OfPicture(picture)
  if (film === undefined) throw new Error('the picture lacks its parameter sets')
  const url = URL.createObjectURL(film)
  const video = document.createElement('video')
  try {
    video.muted = true
    // With less a browser may tell of a picture that it has not decoded yet.
    video.preload = 'auto'
    video.src = url
    await decoded(video)
    const canvas = document.createElement('canvas')
    canvas.width = Math.min(width, video.videoWidth)
    canvas.height = Math.round((canvas.width * video.videoHeight) / video.videoWidth)
    canvas.getContext('2d')?.drawImage(video, 0, 0, canvas.width, canvas.height)
    return canvas.toDataURL('image/jpeg', quality)
  } finally {
    // Lets go of the decoder at once.
    video.removeAttribute('src')
    video.load()
    URL.revokeObjectURL(url)
  }
}

function decoded(video: HTMLVideoElement): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the picture was not decoded in time')), decodeMs)
    const settle = (done: () => void) => (): void => {
      clearTimeout(timer)
      done()
    }
    const failed = (): void => reject(new Error(video.error?.message ?? 'it cannot be decoded'))
    video.addEventListener('error', settle(failed), { once: true })
    // When the picture can be drawn; older browsers tell only that it is there.
    if ('requestVideoFrameCallback' in video) video.requestVideoFrameCallback(settle(resolve))
    else (video as HTMLVideoElement).addEventListener('loadeddata', settle(resolve), { once: true })
  })
}
