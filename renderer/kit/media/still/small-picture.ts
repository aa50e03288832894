const quality = 0.7
/** Timeout of decoding, in milliseconds. */
const decodeMs = 5_000

/**
 * Makes a small JPEG of the first picture of a video, as a data URL.
 * @param width maximum width in pixels
 * @throws Error if the browser cannot decode it
 */
export async function smallPicture(film: Blob, width: number): Promise<string> {
  const url = URL.createObjectURL(film)
  const video = document.createElement('video')
  try {
    video.muted = true
    // With another value, a browser may report a picture before decoding it.
    video.preload = 'auto'
    video.src = url
    await decoded(video)
    const canvas = document.createElement('canvas')
    canvas.width = Math.min(width, video.videoWidth)
    canvas.height = Math.round((canvas.width * video.videoHeight) / video.videoWidth)
    canvas.getContext('2d')?.drawImage(video, 0, 0, canvas.width, canvas.height)
    return canvas.toDataURL('image/jpeg', quality)
  } finally {
    // Releases the decoder at once.
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
    // Waits until the picture can be drawn; older browsers only report that it is loaded.
    if ('requestVideoFrameCallback' in video) video.requestVideoFrameCallback(settle(resolve))
    else (video as HTMLVideoElement).addEventListener('loadeddata', settle(resolve), { once: true })
  })
}
