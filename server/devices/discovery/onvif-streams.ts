import type { DeviceLogin } from '../../../shared/device-address.ts'
import { OnvifError, OnvifHttp } from './onvif-http.ts'
import { part, parts, textAt } from '../../edge/xml-tree.ts'
import { escaped } from './soap.ts'

/** Stream reported by a camera. */
export interface OnvifStream {
  /** RTSP address without a login; its host is always the host that was queried. */
  address: string
  /** Width of the picture in pixels; 0: not reported. */
  width: number
  height: number
}

/** Maximum number of profiles whose stream address is requested. */
const maxProfiles = 6

const deviceNames = 'xmlns:d="http://www.onvif.org/ver10/device/wsdl"'
const mediaNames = 'xmlns:m="http://www.onvif.org/ver10/media/wsdl" xmlns:t="http://www.onvif.org/ver10/schema"'

/**
 * Queries a camera for its streams (ONVIF Media Service Specification, sections 5.2 and 5.15). Returns them sorted by
 * picture size, largest first.
 * @param service URL of the camera's device service
 * @throws OnvifError
 */
export async function onvifStreams(
  service: string,
  login: DeviceLogin | undefined,
  signal: AbortSignal,
): Promise<OnvifStream[]> {
  const http = new OnvifHttp(login, signal)
  http.clockOffset = await clockOffsetOf(http, service)
  const capabilities = await http.call(
    service,
    `<d:GetCapabilities ${deviceNames}><d:Category>Media</d:Category></d:GetCapabilities>`,
  )
  const named = textAt(capabilities, 'GetCapabilitiesResponse', 'Capabilities', 'Media', 'XAddr')
  const { media, profiles } = await profilesAt(http, mediaPlaces(named, service))
  const streams: OnvifStream[] = []
  for (const profile of parts(profiles, 'GetProfilesResponse', 'Profiles').slice(0, maxProfiles)) {
    const token = textAt(profile, '@token')
    const encoder = part(profile, 'VideoEncoderConfiguration')
    if (token === '' || encoder === undefined) continue
    const answer = await http.call(media, streamRequest(token))
    const address = streamAt(textAt(answer, 'GetStreamUriResponse', 'MediaUri', 'Uri'), service)
    if (address === undefined || streams.some((other) => other.address === address)) continue
    streams.push({ address, width: size(encoder, 'Width'), height: size(encoder, 'Height') })
  }
  return streams.toSorted((a, b) => b.width * b.height - a.width * a.height)
}

function streamRequest(token: string): string {
  return `<m:GetStreamUri ${mediaNames}><m:StreamSetup><t:Stream>RTP-Unicast</t:Stream><t:Transport><t:Protocol>RTSP</t:Protocol></t:Transport></m:StreamSetup><m:ProfileToken>${escaped(token)}</m:ProfileToken></m:GetStreamUri>`
}

/** Returns the camera's clock minus this machine's clock, in milliseconds; 0: not reported, or at most 2 s. */
async function clockOffsetOf(http: OnvifHttp, service: string): Promise<number> {
  try {
    const answer = await http.call(service, `<d:GetSystemDateAndTime ${deviceNames}/>`, true)
    const utc = part(answer, 'GetSystemDateAndTimeResponse', 'SystemDateAndTime', 'UTCDateTime')
    const number = (...path: string[]): number => Number(textAt(utc, ...path) || Number.NaN)
    const [year, month, day] = [number('Date', 'Year'), number('Date', 'Month'), number('Date', 'Day')]
    const at = Date.UTC(
      year,
      month - 1,
      day,
      number('Time', 'Hour'),
      number('Time', 'Minute'),
      number('Time', 'Second'),
    )
    const offset = at - Date.now()
    // The camera reports whole seconds, so small offsets are ignored.
    return Number.isFinite(at) && Math.abs(offset) > 2_000 && Math.abs(at) < 8e15 ? offset : 0
  } catch {
    // If the camera does not report its time, no offset is applied.
    return 0
  }
}

function size(encoder: unknown, name: string): number {
  const value = Number(textAt(encoder, 'Resolution', name))
  return Number.isInteger(value) && value > 0 && value < 100_000 ? value : 0
}

/**
 * Returns possible addresses of the media service: as reported by the camera, with the protocol and port that
 * responded, and the device service itself. The host is always the host that responded.
 */
function mediaPlaces(named: string, service: string): string[] {
  const url = URL.parse(named)
  if (url === null || !/^https?:$/.test(url.protocol)) return [service]
  const { hostname, port, protocol } = new URL(service)
  url.hostname = hostname
  const asNamed = url.href
  url.protocol = protocol
  url.port = port
  return [...new Set([asNamed, url.href, service])]
}

/**
 * Returns the profiles from the first address that responds.
 * @throws OnvifError: of the first address if none responds, or if the login is rejected
 */
async function profilesAt(http: OnvifHttp, places: readonly string[]): Promise<{ media: string; profiles: unknown }> {
  let first: unknown
  for (const media of places) {
    try {
      return { media, profiles: await http.call(media, `<m:GetProfiles ${mediaNames}/>`) }
    } catch (error) {
      if (!(error instanceof OnvifError) || error.kind === 'login') throw error
      first ??= error
    }
  }
  throw first
}

/**
 * Returns the RTSP address of a stream without a login, with the host that was queried; undefined: not an RTSP address.
 */
function streamAt(named: string, service: string): string | undefined {
  const found = /^(rtsps?):\/\/(?:[^/?#@]*@)?(?:\[[^\]]*\]|[^/:?#]*)(:\d{1,5})?([/?][^\s]*)?$/i.exec(named)
  if (found === null) return undefined
  const [, scheme = 'rtsp', port = '', path = ''] = found
  return `${scheme.toLowerCase()}://${new URL(service).hostname}${port}${path}`
}
