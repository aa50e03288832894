import type { ProbeResult } from '../../shared/domain/devices.ts'
import { type CameraSource, parseDeviceAddress } from '../../shared/device-address.ts'
import { deviceErrorMessages } from '../../shared/device.ts'
import type { ControlResult } from '../../shared/media/control.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { EmbeddedNodes } from '../nodes/embedded/embedded-nodes.ts'
import { NodeError } from '../nodes/port/media-node-port.ts'

/** Time limit of the search for a substream, in milliseconds. */
const substreamMs = 3_000

/** Probe result on a site without a node that can probe real devices. */
export const simulatedProbe: ProbeResult = {
  ok: true,
  kind: null,
  message: 'Simulated: this site has no node that looks at real devices, so nothing was checked but the address.',
  detail: '',
  milliseconds: 0,
  tracks: [],
  second: null,
  simulated: true,
}

/**
 * Runs a probe with a time limit in milliseconds.
 * @param wantsSecond whether to search for a substream if the device can join
 */
export async function runProbe(
  probe: DeviceProbe,
  camera: CameraSource,
  milliseconds: number,
  wantsSecond: boolean,
): Promise<ProbeResult> {
  const started = performance.now()
  const took = (): number => Math.round(performance.now() - started)
  try {
    const found = await probe(camera, AbortSignal.timeout(milliseconds))
    const answered = { ...found, milliseconds: took(), simulated: false }
    if (!found.ok || !wantsSecond) return { ...answered, second: null }
    const signal = AbortSignal.timeout(substreamMs)
    return { ...answered, second: await findSubstream(probe, camera, found.tracks, signal) }
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'TimeoutError') throw error
    const message = 'The device did not answer in time.'
    return {
      ok: false,
      kind: 'timeout',
      message,
      detail: '',
      milliseconds: took(),
      tracks: [],
      second: null,
      simulated: false,
    }
  }
}

export type ProbedTrack = ProbeResult['tracks'][number]
export type SubstreamFound = NonNullable<ProbeResult['second']>

/**
 * Probes a device without adding it. Ends when the signal aborts. Problems of the device are results, not rejections.
 */
export type DeviceProbe = (
  camera: CameraSource,
  signal: AbortSignal,
) => Promise<Omit<ProbeResult, 'milliseconds' | 'simulated' | 'second'>>

/** Maximum number of addresses tried: each needs a connection to the camera. */
const maxTries = 3

/**
 * Patterns of main stream addresses, each with the replacement that gives the address of the substream. From the
 * manuals of: Hikvision, Dahua and Amcrest, Reolink, Uniview, TP-Link, Foscam, Vivotek, Bosch, Xiongmai, HiSilicon
 * boards. The last entries are the most general.
 */
const conventions: readonly (readonly [main: RegExp, second: string])[] = [
  [/(\/Streaming\/(?:Unicast\/)?channels\/\d{1,2}0)1(?!\d)/i, '$12'],
  [/(\/h26[45]\/ch\d+\/)main(\/av_stream)/i, '$1sub$2'],
  [/([?&]subtype=)0(?!\d)/i, '$11'],
  [/(\/cam\/realmonitor\?channel=\d+)$/i, '$1&subtype=1'],
  [/\/(?:h26[45])?(Preview_\d+_)main/i, '/h264$1sub'],
  [/(\/unicast\/c\d+\/s)0(\/live)/i, '$11$2'],
  [/(\/media\/video)1(?!\d)/i, '$12'],
  [/(\/stream)1(?!\d)/i, '$12'],
  [/(\/onvif)1(?!\d)/i, '$12'],
  [/\/live\.sdp(?=$|\?)/i, '/live2.sdp'],
  [/(\/live\d*s)1(\.sdp)/i, '$12$2'],
  [/([?&]inst=)1(?!\d)/i, '$12'],
  [/([&_?]stream=)0(?!\d)/i, '$11'],
  [/(\/ch\d+_)0(?!\d)/i, '$11'],
  [/\/11(?=$|\?)/, '/12'],
  [/MAIN/, 'SUB'],
  [/Main/, 'Sub'],
  [/main/, 'sub'],
]

/**
 * Returns addresses at which this camera may have a substream, the most likely first.
 * @param address rtsp:// or rtsps://, without login
 */
export function substreamAddresses(address: string): string[] {
  const [, origin = '', path = ''] = /^(rtsps?:\/\/[^/?#]*)(.*)$/is.exec(address) ?? []
  const found = new Set<string>()
  for (const [main, second] of conventions) if (main.test(path)) found.add(origin + path.replace(main, second))
  return [...found].slice(0, maxTries)
}

/**
 * Searches for a substream of a probed camera, smaller than its main stream; null: none was found, or the signal
 * aborted. Streams of unknown size are ignored, because some cameras serve the same stream at every path.
 * @param tracks tracks of the main stream
 */
export async function findSubstream(
  probe: DeviceProbe,
  { address, ...camera }: CameraSource,
  tracks: readonly ProbedTrack[],
  signal: AbortSignal,
): Promise<SubstreamFound | null> {
  const pixels = pixelsOf(videoOf(tracks))
  if (pixels === 0) return null
  for (const candidate of substreamAddresses(address.address)) {
    if (signal.aborted) return null
    // On an error, the next address is tried.
    const found = await probe({ ...camera, address: parseDeviceAddress(candidate) }, signal).catch(() => undefined)
    // The camera has rejected a login that it accepted before. Further attempts could make the camera lock its account.
    if (found?.kind === 'auth') return null
    const video = videoOf(found?.tracks ?? [])
    if (video?.width === undefined || video.height === undefined || pixelsOf(video) >= pixels) continue
    return { address: candidate, width: video.width, height: video.height }
  }
  return null
}

function videoOf(tracks: readonly ProbedTrack[]): ProbedTrack | undefined {
  return tracks.find(({ kind, carried }) => kind === 'video' && carried)
}

function pixelsOf(video: ProbedTrack | undefined): number {
  return (video?.width ?? 0) * (video?.height ?? 0)
}

/**
 * Returns a probe that runs on an embedded node.
 * @throws ApiError nodeOffline if no embedded node is running
 */
export function probeThrough(media: Pick<EmbeddedNodes, 'anyClient'>): DeviceProbe {
  const look = lookThrough(media)
  return async (device, signal) => {
    const { ok, kind, tracks, message, detail } = await look(device, signal)
    return { ok, kind, tracks, message, detail }
  }
}

/**
 * Returns a probe that also reports the address that responded, at which a node of another kind must pull the device.
 * @throws the errors of `probeThrough`
 */
export function lookThrough(
  media: Pick<EmbeddedNodes, 'anyClient'>,
): (...device: Parameters<DeviceProbe>) => Promise<Awaited<ReturnType<DeviceProbe>> & { address: string }> {
  return async ({ address: asked, login, oldTls }, signal) => {
    try {
      const client = await media.anyClient(signal)
      const { ok, kind, tracks, address, detail } = await client.request(
        'probe',
        { address: asked, login, oldTls },
        signal,
      )
      const message = kind === null ? summaryOf(tracks) : deviceErrorMessages[kind]
      return { ok, kind, tracks, address, message, detail }
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      throw new ApiError('nodeOffline', { refusal: refusal('embeddedOff'), cause: error })
    }
  }
}

function summaryOf(tracks: ControlResult<'probe'>['tracks']): string {
  const left = tracks.filter(({ carried }) => !carried).map(({ detail }) => `${detail}.`)
  return ['The device can join a room.', ...left].join(' ')
}
