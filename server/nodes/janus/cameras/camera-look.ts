import { isIPv6 } from 'node:net'
import type { CameraSource } from '../../../../shared/device-address.ts'
import type { DeviceErrorKind } from '../../../../shared/device.ts'
import { DeviceJoinError } from '../../port/media-node-port.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import type { MountpointMedia } from './mountpoint-requests.ts'

/** Codecs that both Janus and browsers support, by their names in SDP. */
const supportedAudio = /^(opus|pcmu|pcma|g722)$/i
const supportedVideo = /^(h264|vp8|vp9|av1)$/i

/** Probes a camera in the same way as an embedded node. Janus does not report why it could not pull a camera. */
export type CameraProbe = (
  camera: CameraSource,
  signal: AbortSignal,
) => Promise<{
  ok: boolean
  /** Reason of the failure; null if `ok`. */
  kind: DeviceErrorKind | null
  message: string
  /** Permitted IP address at which the camera answered; empty if it did not answer. */
  address: string
  /** Kind `video` or `audio`, and the codec's name in SDP. */
  tracks: readonly { kind: string; codec: string }[]
}>

/** Facts about a camera before Janus pulls it. */
export interface Looked {
  /** Whether the camera has audio in a supported codec, or its tracks are unknown. */
  hasAudio: boolean
  /** Whether the camera answered the probe. */
  isSeen: boolean
  /** URL that Janus pulls. */
  url: string
}

export interface LookOptions {
  /** Returns the current probe; undefined while no probe is available. */
  probe: () => CameraProbe | undefined
  /**
   * Returns whether the site restricts the addresses of cameras. If it does, a camera that cannot be checked is not
   * pulled.
   */
  restricted: () => boolean
  logger: NodeLogger
}

/**
 * Probes a camera before Janus pulls it, because Janus does not report why a pull failed. Also checks whether the
 * camera's address is permitted. If the site restricts addresses, Janus gets the IP address that was checked: the name
 * may resolve to another address later.
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
    logger.debug({ err: error }, 'could not probe a camera before Janus pulls it')
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

/** Replaces the host in a URL by an IP address. */
function atAddress(url: string, address: string): string {
  const host = isIPv6(address) ? `[${address}]` : address
  return url.replace(/^(rtsp:\/\/)(?:\[[^\]]*\]|[^:/?#]*)/i, (_all, scheme: string) => scheme + host)
}

/** Returns whether a mountpoint has video that browsers support. */
export function hasPicture(media: MountpointMedia): boolean {
  return media.some(({ type, codec = '' }) => type === 'video' && supportedVideo.test(codec))
}

/** Returns whether a mountpoint has audio in an unsupported codec, which would stop the video as well. */
export function hasStrangeSound(media: MountpointMedia): boolean {
  return media.some(({ type, codec = '' }) => type === 'audio' && !supportedAudio.test(codec))
}

/** Describes the media of a mountpoint for the operator. */
export function described(media: MountpointMedia): string {
  return media.map(({ type, codec = 'of another kind' }) => `${type} ${codec}`).join(', ')
}
