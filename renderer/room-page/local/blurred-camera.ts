import { blurFolder, blurWorker } from '../../../shared/media/room-page.ts'

/** Timeout of loading the model and its program, about 3 MB, in milliseconds. */
const loadMs = 30_000

/** A camera whose background is blurred before the picture leaves this browser. */
export interface BlurredCamera {
  /** The blurred picture. */
  readonly track: MediaStreamTrack
  /** Stops the blurred picture; the camera stays open. */
  end(): void
}

/** Returns whether this browser gives pages access to the frames of a camera. If not, only the system can blur. */
export function canBlurFrames(): boolean {
  return 'MediaStreamTrackProcessor' in window && 'MediaStreamTrackGenerator' in window
}

/**
 * Blurs everything but people, with a model that comes with the page. A frame that cannot be blurred is never shown.
 * @param failed called when a frame could not be blurred; no further frames follow
 * @throws Error if the model cannot be loaded
 */
export async function blurredCamera(camera: MediaStreamTrack, failed: () => void): Promise<BlurredCamera> {
  if (!isVideo(camera)) throw new TypeError('this track has no picture')
  const { GaussianBlurBackgroundProcessor, isSupported } = await import('@twilio/video-processors')
  if (!isSupported) throw new Error('this browser cannot draw blurred frames')
  const folder = new URL(blurFolder, document.baseURI).href
  await loaded(new URL(blurWorker, folder))
  const processor = new GaussianBlurBackgroundProcessor({ assetsPath: folder, blurFilterRadius: 12 })
  await Promise.race([processor.loadModel(), late()])
  const frames = new MediaStreamTrackProcessor({ track: camera }).readable.getReader()
  const track = new MediaStreamTrackGenerator({ kind: 'video' })
  track.contentHint = camera.contentHint
  const shown = track.writable.getWriter()
  const canvas = document.createElement('canvas')
  const show = async (frame: VideoFrame): Promise<void> => {
    const { timestamp, displayWidth, displayHeight } = frame
    if (canvas.width !== displayWidth || canvas.height !== displayHeight)
      Object.assign(canvas, { width: displayWidth, height: displayHeight })
    await processor.processFrame(frame, canvas)
    await shown.write(new VideoFrame(canvas, { timestamp, alpha: 'discard' }))
  }
  const run = async (): Promise<void> => {
    for (;;) {
      const { done, value: frame } = await frames.read()
      if (done) return
      await show(frame).finally(() => frame.close())
    }
  }
  let isOver = false
  const end = (): void => {
    isOver = true
    // The stream has ended in any case.
    void frames.cancel().catch(() => undefined)
    track.stop()
  }
  void run().catch(() => {
    if (isOver) return
    end()
    failed()
  })
  return { track, end }
}

/** Loads the worker's program first: the library never reports a program that fails to load. */
async function loaded(url: URL): Promise<void> {
  const response = await fetch(url, { signal: AbortSignal.timeout(loadMs) })
  if (!response.ok) throw new Error(`the blur was not loaded: ${response.status}`)
  await response.arrayBuffer()
}

function late(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error('the model was not loaded in time')), loadMs)
  })
}

function isVideo(track: MediaStreamTrack): track is MediaStreamVideoTrack {
  return track.kind === 'video'
}
