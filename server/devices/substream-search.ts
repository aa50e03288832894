import { type CameraSource, parseDeviceAddress } from '../../shared/device-address.ts'
import type { DeviceProbe, ProbedTrack, SubstreamFound } from './probe-result.ts'

/** At most so many addresses are tried: each is a connection to the camera. */
const maxTries = 3

/**
 * How makers of cameras name the address of the main stream, and what it is for the smaller one beside it: Hikvision, Dahua and Amcrest, Reolink, Uniview,
 * TP-Link, Foscam, Vivotek, Bosch, Xiongmai, HiSilicon boards, in the words of their manuals; last, what everybody calls it.
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

/** Addresses at which this camera may have a smaller stream, the likeliest first. @param address rtsp:// or rtsps://, without login */
export function substreamAddresses(address: string): string[] {
  const [, origin = '', path = ''] = /^(rtsps?:\/\/[^/?#]*)(.*)$/is.exec(address) ?? []
  const found = new Set<string>()
  for (const [main, second] of conventions) if (main.test(path)) found.add(origin + path.replace(main, second))
  return [...found].slice(0, maxTries)
}

/**
 * Looks for a smaller stream beside the one that was probed. One that is not known to be smaller does not count: there are cameras that answer every path
 * with the same stream. Null too when the signal aborts.
 * @param tracks of the main stream
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
    // The camera has no such address.
    const found = await probe({ ...camera, address: parseDeviceAddress(candidate) }, signal).catch(() => undefined)
    // A login that worked a moment ago is refused now: each further try brings the camera closer to locking its account.
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
