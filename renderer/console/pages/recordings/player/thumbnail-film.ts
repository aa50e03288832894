/** Width of a thumbnail in pixels. */
const width = 240
const quality = 0.7
/** Timeout of decoding, in milliseconds. */
const decodeMs = 5_000

/** A small picture of a recording. */
export interface RecordedThumbnail {
  /** Data URL of a JPEG. */
  url: string
  /** Moment of the picture, in milliseconds since the epoch. */
  at: number
}

/**
 * Loads and decodes the picture of a segment before a moment.
 * @param at seconds of media time
 * @throws Error if there is none, or the browser cannot decode it
 */
export async function recordedThumbnail(id: number, at: number, signal: AbortSignal): Promise<RecordedThumbnail> {
  const answer = await fetch(`/recordings/segments/${id}/picture?at=${at.toFixed(3)}`, { signal })
  if (!answer.ok) throw new Error('there is no picture')
  const url = URL.createObjectURL(await answer.blob())
  const video = document.createElement('video')
  try {
    video.muted = true
    video.preload = 'auto'
    video.src = url
    await decoded(video)
    const canvas = document.createElement('canvas')
    canvas.width = Math.min(width, video.videoWidth)
    canvas.height = Math.round((canvas.width * video.videoHeight) / video.videoWidth)
    canvas.getContext('2d')?.drawImage(video, 0, 0, canvas.width, canvas.height)
    return { url: canvas.toDataURL('image/jpeg', quality), at: Number(answer.headers.get('recording-picture-at')) }
  } finally {
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
    video.addEventListener(
      'error',
      settle(() => reject(new Error(video.error?.message ?? 'it cannot be decoded'))),
      { once: true },
    )
    video.addEventListener('loadeddata', settle(resolve), { once: true })
  })
}
