import type { CameraSource } from '../../../shared/device-address.ts'
import { type CodecSupport, codecSupportOf, needAbilities } from './codec-support.ts'
import type { Abilities } from '../transcode/transcoding.ts'
import type { RtspTrack } from './description.ts'
import { describedResolution } from './resolution.ts'
import { RtspError, type RtspErrorKind } from './rtsp-error.ts'
import { noUsableTrack, type RtspOptions, RtspSession } from './session.ts'

/** One track of a probed camera. `detail` includes the resolution if the camera describes it. */
interface ProbedTrack extends CodecSupport {
  kind: 'video' | 'audio'
  codec: string
  /** Size of the picture in pixels, if the camera describes it. */
  width?: number
  height?: number
}

/** Result of a probe: the camera's tracks, or the reason of the failure. */
export type RtspProbeResult = {
  milliseconds: number
  tracks: ProbedTrack[]
  /** IP address of the camera; empty if the camera was not described. */
  address: string
} & ({ ok: true } | { ok: false; kind: RtspErrorKind; message: string /** See RtspError. */; detail: string })

/** Settings of a probe: a subset of the settings of a pull. */
export type ProbeOptions = Required<Pick<RtspOptions, 'trustAnyCertificate' | 'answerMs' | 'allowed' | 'log'>> &
  Pick<RtspOptions, 'abilities'>

/**
 * Probes a camera without playing it: whether it is reachable, the login is correct, and its tracks are supported. `ok`
 * means that the camera could join a room. Rejects only with the signal's reason.
 */
export async function probe(
  camera: CameraSource,
  options: ProbeOptions,
  signal: AbortSignal,
): Promise<RtspProbeResult> {
  const started = performance.now()
  const elapsed = (): number => Math.round(performance.now() - started)
  let session: RtspSession | undefined
  try {
    session = new RtspSession(
      { ...options, ...camera, transport: 'auto', stallMs: options.answerMs },
      { rtp: () => {}, rtcp: () => {}, ended: () => {} },
    )
    const { tracks } = await session.describe(signal)
    const { remoteAddress } = session
    const abilities = needAbilities(tracks) ? await options.abilities?.() : undefined
    const probed = tracks.map((track) => probedTrack(track, abilities))
    if (probed.some(({ carried }) => carried))
      return { ok: true, milliseconds: elapsed(), tracks: probed, address: remoteAddress }
    const { kind, message, detail } = noUsableTrack(tracks)
    return { ok: false, kind, message, detail, milliseconds: elapsed(), tracks: probed, address: remoteAddress }
  } catch (error) {
    signal.throwIfAborted()
    const kind = error instanceof RtspError ? error.kind : 'protocol'
    const message = error instanceof Error ? error.message : 'the camera could not be asked'
    const detail = error instanceof RtspError ? error.detail : ''
    return { ok: false, milliseconds: elapsed(), kind, message, detail, tracks: [], address: '' }
  } finally {
    await session?.close()
  }
}

function probedTrack(track: RtspTrack, abilities: Abilities | undefined): ProbedTrack {
  const support = codecSupportOf(track, abilities)
  const size = track.kind === 'video' ? describedResolution(track) : undefined
  const { detail } = support
  return {
    ...support,
    kind: track.kind,
    codec: track.codec,
    detail: size === undefined ? detail : `${detail}, ${size.width} × ${size.height}`,
    ...size,
  }
}
