import { isIPv6 } from 'node:net'
import type { CameraSource } from '../../../../shared/device-address.ts'
import { DeviceJoinError } from '../../port/media-node-port.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import type { CameraProbe } from './camera-probe.ts'
import type { MountpointMedia } from './mountpoint-requests.ts'

/** Codecs that both Janus and browsers support, by their names in SDP. */
const supportedAudio = /^(opus|pcmu|pcma|g722)$/i
const supportedVideo = /^(h264|vp8|vp9|av1)$/i

/** Facts about a camera from before Janus pulls it. */
export interface Looked {
  /** It has sound in a supported codec, or may have. */
  hasAudio: boolean
  /** It answered. */
  isSeen: boolean
  /** As Janus is to ask for it. */
  url: string
}

/** Probe of a camera, and its purpose. */
export interface LookOptions {
  /** Undefined while none can look. */
  probe: () => CameraProbe | undefined
  /** Whether the site limits where cameras may be: then a camera that cannot be checked is not pulled. */
  restricted: () => boolean
  logger: NodeLogger
}

/**
 * Checks a camera for the reason why it cannot be pulled, which Janus does not report; and whether its address is permitted. If the site limits that, Janus gets the very IP
 * address that was checked: a name may resolve to another one a moment later.
 * @throws DeviceJoinError with the reason; the signal's reason
 */
export async function lookAtCamera(
  { address: at, login, oldTls }: CameraSource,
  { probe: current, restricted, logger }: LookOptions,
  signal: AbortSignal,
): Promise<Looked> {
  if (at.secure) throw new DeviceJoinError('encrypted', 'Janus pulls cameras by rtsp:// only.')
  const url = at.requestUrl
  const probe = current()
  if (probe === undefined) return unseen(url, restricted())
  let found: Awaited<ReturnType<CameraProbe>>
  try {
    found = await probe({ address: at, login, oldTls }, signal)
  } catch (error) {
    signal.throwIfAborted()
    logger.debug({ err: error }, 'a camera could not be probed before Janus pulls it')
    return unseen(url, restricted())
  }
  const { kind, message, tracks, address } = found
  if (kind !== null) throw new DeviceJoinError(kind, message)
  if (!tracks.some((track) => track.kind === 'video' && supportedVideo.test(track.codec))) {
    throw new DeviceJoinError('noUsableTrack', 'Janus carries H.264, VP8, VP9 and AV1 only.')
  }
  const hasAudio = tracks.some((track) => track.kind === 'audio' && supportedAudio.test(track.codec))
  return { hasAudio, isSeen: true, url: restricted() ? atAddress(url, address) : url }
}

function unseen(url: string, restricted: boolean): Looked {
  if (!restricted) return { hasAudio: true, isSeen: false, url }
  const message =
    'Whether the camera is where cameras may be cannot be looked at now: the program that does it does not run.'
  throw new DeviceJoinError('nodeFailed', message)
}

/** The same stream, by the IP address of its camera. */
function atAddress(url: string, address: string): string {
  const host = isIPv6(address) ? `[${address}]` : address
  return url.replace(/^(rtsp:\/\/)(?:\[[^\]]*\]|[^:/?#]*)/i, (_all, scheme: string) => scheme + host)
}

/** Whether a mountpoint has a picture that browsers take. */
export function hasPicture(media: MountpointMedia): boolean {
  return media.some(({ type, codec = '' }) => type === 'video' && supportedVideo.test(codec))
}

/** Whether a mountpoint has sound in an unsupported codec, which would stop the picture as well. */
export function hasStrangeSound(media: MountpointMedia): boolean {
  return media.some(({ type, codec = '' }) => type === 'audio' && !supportedAudio.test(codec))
}

/** For the operator. */
export function described(media: MountpointMedia): string {
  return media.map(({ type, codec = 'of another kind' }) => `${type} ${codec}`).join(', ')
}
