import { createHash, randomBytes } from 'node:crypto'
import type { DeviceLogin } from '../../../shared/device-address.ts'
import { part, parts, textAt, xmlTree } from '../../edge/xml-tree.ts'

/** Stream reported by a camera. */
export interface OnvifStream {
  /** RTSP address without a login; its host is always the host that was queried. */
  address: string
  /** Width of the picture in pixels; 0: not reported. */
  width: number
  height: number
}

/** Maximum length of a response of a camera, in bytes. */
const maxMessage = 262_144
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

/**
 * A request to a camera failed. `login`: the camera requires a login, or rejected the given one; `failed`: the camera
 * did not respond as specified by ONVIF.
 */
export class OnvifError extends Error {
  readonly kind: 'login' | 'failed'

  constructor(kind: 'login' | 'failed', message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'OnvifError'
    this.kind = kind
  }
}

/** Sends requests to one camera, with its login. */
class OnvifHttp {
  readonly #login: DeviceLogin | undefined
  readonly #signal: AbortSignal
  /** The camera's clock minus this machine's clock, in milliseconds. Digests contain the time. */
  clockOffset = 0

  constructor(login: DeviceLogin | undefined, signal: AbortSignal) {
    this.#login = login
    this.#signal = signal
  }

  /**
   * Calls an ONVIF service. Resolves to the content of the SOAP body.
   * @param content XML for the body of the SOAP envelope
   * @param anonymous whether to omit the login
   * @throws OnvifError
   */
  async call(url: string, content: string, anonymous = false): Promise<unknown> {
    const login = anonymous ? undefined : this.#login
    const message = envelope(content, login === undefined ? '' : usernameToken(login, this.clockOffset))
    let answer = await this.#post(url, message)
    const challenge = answer.status === 401 ? answer.challenge : ''
    if (login !== undefined && /^digest/i.test(challenge)) {
      // Some cameras accept only HTTP digest authentication (ONVIF Core Specification, section 5.9).
      answer = await this.#post(url, envelope(content, ''), digestField(login, challenge, new URL(url)))
    }
    const body = soapBody(answer.text)
    const isRefused = answer.status === 401 || /NotAuthorized|FailedAuthentication/i.test(faultOf(body))
    if (isRefused) throw new OnvifError('login', 'the camera wants another login')
    if (answer.status !== 200 || body === undefined) {
      throw new OnvifError('failed', `the camera answered ${answer.status} ${faultOf(body)}`.trim())
    }
    return body
  }

  async #post(url: string, message: string, authorization = ''): Promise<Answer> {
    const headers = { 'Content-Type': 'application/soap+xml; charset=utf-8' }
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: authorization === '' ? headers : { ...headers, Authorization: authorization },
        body: message,
        redirect: 'error',
        signal: this.#signal,
      })
      const challenge = response.headers.get('www-authenticate') ?? ''
      return { status: response.status, challenge, text: await bounded(response) }
    } catch (error) {
      throw error instanceof OnvifError ? error : new OnvifError('failed', 'the camera did not answer', error)
    }
  }
}

interface Answer {
  status: number
  challenge: string
  text: string
}

async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  const body: AsyncIterable<Uint8Array> | readonly Uint8Array[] = response.body ?? []
  for await (const chunk of body) {
    length += chunk.length
    if (length > maxMessage) throw new OnvifError('failed', 'the answer of the camera is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/**
 * Returns the content of the body of a SOAP message; undefined: invalid. Never throws, because messages are
 * untrusted.
 */
function soapBody(text: string): unknown {
  return part(xmlTree(text, maxMessage), 'Envelope', 'Body')
}

function faultOf(body: unknown): string {
  const code = textAt(body, 'Fault', 'Code', 'Value')
  const subcode = textAt(body, 'Fault', 'Code', 'Subcode', 'Value') || textAt(body, 'Fault', 'faultcode')
  return `${code} ${subcode}`.trim().slice(0, 200)
}

function envelope(content: string, header: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Header>${header}</s:Header><s:Body>${content}</s:Body></s:Envelope>`
}

/** Escapes text for the content of an XML element. */
function escaped(value: string): string {
  return value.replaceAll(/[<>&"']/g, (char) => `&#${char.charCodeAt(0)};`)
}

/**
 * Returns the login as a WS-Security header (UsernameToken Profile 1.0, section 3.1), with a digest instead of the
 * password.
 */
function usernameToken({ name, password }: DeviceLogin, clockOffset: number): string {
  const nonce = randomBytes(16)
  const created = new Date(Date.now() + clockOffset).toISOString()
  const digest = createHash('sha1').update(nonce).update(created).update(password).digest('base64')
  const base = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss'
  return `<w:Security xmlns:w="${base}-wssecurity-secext-1.0.xsd" xmlns:u="${base}-wssecurity-utility-1.0.xsd"><w:UsernameToken><w:Username>${escaped(name)}</w:Username><w:Password Type="${base}-username-token-profile-1.0#PasswordDigest">${digest}</w:Password><w:Nonce EncodingType="${base}-soap-message-security-1.0#Base64Binary">${nonce.toString('base64')}</w:Nonce><u:Created>${created}</u:Created></w:UsernameToken></w:Security>`
}

/** Returns the value of the Authorization header for HTTP digest authentication with MD5 (RFC 7616, section 3.4). */
function digestField({ name, password }: DeviceLogin, challenge: string, { pathname, search }: URL): string {
  const value = (field: string): string => new RegExp(`\\b${field}="?([^",]{0,300})`, 'i').exec(challenge)?.[1] ?? ''
  const md5 = (text: string): string => createHash('md5').update(text).digest('hex')
  const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`
  const [realm, nonce, opaque] = [value('realm'), value('nonce'), value('opaque')]
  const uri = `${pathname}${search}`
  const client = randomBytes(8).toString('hex')
  const secret = md5(`${name}:${realm}:${password}`)
  const hasQop = /\bqop=/i.test(challenge)
  const proof = hasQop
    ? md5(`${secret}:${nonce}:00000001:${client}:auth:${md5(`POST:${uri}`)}`)
    : md5(`${secret}:${nonce}:${md5(`POST:${uri}`)}`)
  const fields = [
    `username=${quoted(name)}`,
    `realm=${quoted(realm)}`,
    `nonce=${quoted(nonce)}`,
    `uri=${quoted(uri)}`,
    `response="${proof}"`,
    ...(hasQop ? ['qop=auth', 'nc=00000001', `cnonce="${client}"`] : []),
    ...(opaque === '' ? [] : [`opaque=${quoted(opaque)}`]),
  ]
  return `Digest ${fields.join(', ')}`
}
