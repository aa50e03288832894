import { DeviceJoinError } from '../../media-node.ts'
import type { NodeLogger } from '../../node-failure.ts'
import type { Camera } from './camera-key.ts'
import type { CameraProbe } from './camera-probe.ts'
import type { MountpointMedia } from './mountpoint-requests.ts'

/** What Janus and browsers carry; the names of SDP. */
const carriedAudio = /^(opus|pcmu|pcma|g722)$/i
const carriedVideo = /^(h264|vp8|vp9|av1)$/i

/** What was seen of a camera before Janus pulls it. */
export interface Looked {
  /** It has sound that can be carried, or may have. */
  hasAudio: boolean
  /** It answered. */
  isSeen: boolean
}

/**
 * Looks at a camera, for the reason why it cannot be pulled: Janus gives none.
 * @param probe undefined: none can look
 * @throws DeviceJoinError with the reason; the signal's reason
 */
export async function lookAtCamera(
  { url, login }: Camera,
  probe: CameraProbe | undefined,
  logger: NodeLogger,
  signal: AbortSignal,
): Promise<Looked> {
  if (/^rtsps:/i.test(url)) {
    throw new DeviceJoinError('nodeFailed', 'Janus pulls cameras by rtsp:// only: put the room on an embedded node.')
  }
  if (probe === undefined) return { hasAudio: true, isSeen: false }
  let found: Awaited<ReturnType<CameraProbe>>
  try {
    found = await probe({ address: url, login }, signal)
  } catch (error) {
    signal.throwIfAborted()
    logger.debug({ err: error }, 'a camera could not be looked at before Janus pulls it')
    return { hasAudio: true, isSeen: false }
  }
  const { kind, message, tracks } = found
  if (kind !== null) throw new DeviceJoinError(kind, message)
  if (!tracks.some((track) => track.kind === 'video' && carriedVideo.test(track.codec))) {
    throw new DeviceJoinError('noUsableTrack', 'Janus carries H.264, VP8, VP9 and AV1 only.')
  }
  return { hasAudio: tracks.some((track) => track.kind === 'audio' && carriedAudio.test(track.codec)), isSeen: true }
}

/** Whether a mountpoint has a picture that browsers take. */
export function hasPicture(media: MountpointMedia): boolean {
  return media.some(({ type, codec = '' }) => type === 'video' && carriedVideo.test(codec))
}

/** Whether a mountpoint has a sound that nobody could carry: it would stop the picture as well. */
export function hasStrangeSound(media: MountpointMedia): boolean {
  return media.some(({ type, codec = '' }) => type === 'audio' && !carriedAudio.test(codec))
}

/** For the operator. */
export function described(media: MountpointMedia): string {
  return media.map(({ type, codec = 'of another kind' }) => `${type} ${codec}`).join(', ')
}
