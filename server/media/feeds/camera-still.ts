import { sleep } from '../../../shared/sleep.ts'
import type { CameraSource } from '../../../shared/device-address.ts'
import { RtspError } from '../rtsp/rtsp-error.ts'
import type { CameraPulls } from './camera-pulls.ts'
import type { KeyPicture } from './feed-tracks.ts'
import { newestKeyPicture } from './key-picture.ts'

/** Interval of checks for a whole key frame, in milliseconds. */
const lookMs = 100

/**
 * Returns a picture of a camera, in a room or not. Pulls the camera until a key frame has arrived. An existing pull is
 * shared.
 * @returns undefined if the camera's pictures can be neither shown nor converted on this machine
 * @throws RtspError; the signal's reason
 */
export async function stillOf(
  pulls: Pick<CameraPulls, 'acquire'>,
  camera: CameraSource,
  signal: AbortSignal,
): Promise<KeyPicture | undefined> {
  const ended = new AbortController()
  const either = AbortSignal.any([signal, ended.signal])
  const lease = await pulls.acquire(camera, signal, (error) => ended.abort(error))
  try {
    const { feed } = lease
    for (;;) {
      const { video, playback } = feed
      if (video === undefined) throw new RtspError('noUsableTrack', 'it sends no video')
      const converted = playback.conversion?.from !== '' && playback.conversion?.pictures === true
      if (video.codec !== 'H264' && !converted) return undefined
      const picture = await newestKeyPicture(feed, either)
      if (picture !== undefined) return picture
      await sleep(lookMs, { signal: either })
    }
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : error
  } finally {
    lease.release()
  }
}
