import { hasControlCharacter } from './control-character.ts'
import { limits } from './limits.ts'
import { utf8Length } from './operation.ts'
import { type Complaint, complaint } from './refusals/complaints.ts'
import { ApiError } from './result-codes.ts'

/** Parser of camera addresses, used by the controller, the node and the console. No other code parses them. */

/** Login of a device; both parts may be empty. */
export interface DeviceLogin {
  name: string
  password: string
}

/** Parsed device address (contract, section 4). */
export interface DeviceAddress {
  /** Original text without the login; this text is stored and displayed. */
  address: string
  /**
   * Canonical form: scheme and host in lower case, an explicit port, `/` for an empty path. Equal for all spellings of
   * an address.
   */
  canonical: string
  /** Scheme, host and port of `canonical`: the endpoint of a connection. */
  origin: string
  /** Login from `user:password@` in the text; undefined: none. */
  login?: DeviceLogin | undefined
  /**
   * Request URL for the camera: ASCII without spaces, login and zone (RFC 6874, section 4: a zone is local to a
   * machine).
   */
  requestUrl: string
  /** Host name, IPv4 address, or IPv6 address without brackets. A zone follows a bare `%`, as in socket addresses. */
  host: string
  /** Port, 1 to 65535. */
  port: number
  /** Whether the address uses RTSP over TLS. */
  secure: boolean
}

/** Address of a camera, with the login and options for connecting to it. */
export interface CameraSource {
  address: DeviceAddress
  login: DeviceLogin | undefined
  /** Whether outdated TLS (1.0, 1.1, weak keys) is accepted; undefined: no. */
  oldTls?: boolean | undefined
}

/**
 * Returns a key of a camera that is equal for all spellings of its address. The node pulls a camera only once per key.
 * The key contains the password, so it must not be shown or logged.
 */
export function cameraKey({ address, login, oldTls }: CameraSource): string {
  const isOld = oldTls === true && address.secure
  return JSON.stringify([address.canonical, login?.name ?? '', login?.password ?? '', ...(isOld ? ['old TLS'] : [])])
}

/** Default port of both schemes (contract, section 4). RFC 7826 registers 322 for rtsps, which cameras do not use. */
const defaultPort = 554

/** One possible parse of the text after the scheme: position and content of the host. */
interface Reading {
  /** Index of the host in the text. If there is a login, it ends one character before. */
  start: number
  /** Host as in the text, but without brackets and with the zone after a bare `%`. */
  host: string
  canonicalHost: string
  /** undefined: the text contains no port. */
  port: number | undefined
  /** Index of the path. */
  pathStart: number
  /** Certainty that this is the host: 3 IP address, 2 dotted name, 1 name with a port, 0 bare name. */
  rank: number
}

/**
 * Parses a device address. The login may be unescaped: a password may contain `@:/?#%` and any letters. Valid
 * percent-escapes are decoded.
 * @param field name of the parameter, for the error
 * @throws ApiError 'parameter' with one sentence that never quotes the address
 */
export function parseDeviceAddress(text: string, field = 'userAddress'): DeviceAddress {
  const refuse = (wrong: Complaint): never => {
    throw new ApiError('parameter', { field, complaint: wrong })
  }
  const trimmed = text.trim()
  if (trimmed === '') refuse(complaint('addressEmpty'))
  if (utf8Length(trimmed) > limits.userAddress) refuse(complaint('addressLong', { max: limits.userAddress }))
  if (!trimmed.isWellFormed() || hasControlCharacter(trimmed)) refuse(complaint('addressCharacter'))
  const [start, scheme = ''] = /^(rtsps?):\/\//i.exec(trimmed) ?? refuse(complaint('addressScheme'))
  const rest = trimmed.slice(start.length)
  const reading = read(rest) ?? refuse(complaintAbout(rest))
  const path = rest.slice(reading.pathStart)
  if (/\s/.test(path)) refuse(complaint('addressSpace'))
  const lowerScheme = scheme.toLowerCase()
  const port = reading.port ?? defaultPort
  const { canonicalHost } = reading
  const written = reading.port === undefined ? '' : `:${port}`
  const requestHost = bracketed(canonicalHost.replace(/%.*$/, ''))
  const origin = `${lowerScheme}://${bracketed(canonicalHost)}:${port}`
  return {
    address: `${start}${rest.slice(reading.start)}`,
    canonical: `${origin}${path.startsWith('/') ? path : `/${path}`}`,
    origin,
    login: reading.start === 0 ? undefined : splitLogin(rest.slice(0, reading.start - 1)),
    requestUrl: `${lowerScheme}://${requestHost}${written}${asciiOnly(path)}`,
    host: reading.host,
    port,
    secure: lowerScheme === 'rtsps',
  }
}

/**
 * Whether two addresses refer to the same stream, regardless of their logins. Invalid addresses are compared as text.
 */
export function sameAddress(one: string, other: string): boolean {
  return one === other || canonical(one) === canonical(other)
}

/**
 * Whether a login stored for some addresses may be sent to other addresses. Each of these must have the same scheme,
 * host and port as a stored address. Empty texts are ignored; an invalid address matches only the same text.
 */
export function isLoginFor(given: readonly string[], others: readonly string[]): boolean {
  const origins = new Set(given.map(originOf))
  return others.every((address) => address.trim() === '' || origins.has(originOf(address)))
}

/**
 * Returns the endpoints (scheme, host and port) to which a login for these addresses may be sent, in a comparable form.
 * Empty texts are ignored.
 */
export function loginTargets(addresses: readonly string[]): string {
  const given = addresses.filter((address) => address.trim() !== '')
  return JSON.stringify([...new Set(given.map(originOf))].sort())
}

/**
 * Returns the request URL for an address in a camera's response (Content-Base, Content-Location, a control attribute).
 * Removes the login, and escapes characters that are forbidden in requests. undefined: the address is invalid.
 */
export function requestUrlOf(text: string): string | undefined {
  return parsed(asciiOnly(text))?.requestUrl
}

/**
 * Escapes all characters of a URL that are forbidden in the first line of a request: controls, spaces and non-ASCII.
 */
export function asciiOnly(text: string): string {
  return text.toWellFormed().replace(/[^!-~]+/g, (run) => encodeURIComponent(run))
}

function canonical(text: string): string {
  return parsed(text)?.canonical ?? text
}

function originOf(text: string): string {
  return parsed(text)?.origin ?? text
}

function parsed(text: string): DeviceAddress | undefined {
  try {
    return parseDeviceAddress(text)
  } catch {
    return undefined
  }
}

/**
 * Finds the host. According to RFC 3986, it is before the first `/`, `?` or `#`, and after the last `@` before that
 * character. Pasted passwords may contain these characters, so every later `@` is also tried if the text before it
 * looks like `name:password`. Returns the parse with the most certain host; of equally certain ones, the first.
 */
function read(rest: string): Reading | undefined {
  const authorityEnd = endOfAuthority(rest, 0)
  const plainStart = rest.lastIndexOf('@', authorityEnd - 1) + 1
  let best = authorityEnd === 0 ? undefined : readHost(rest, plainStart > authorityEnd ? 0 : plainStart)
  if (!/^[^/?#:]*:/.test(rest)) return best
  // An address inside the path (`/hikvision://192.168.1.121:8000:0:0`) belongs to the path, including its login.
  const inner = rest.slice(authorityEnd).search(/[/?#&=][A-Za-z][A-Za-z0-9+.-]*:\/\//)
  const last = inner < 0 ? rest.length : authorityEnd + inner
  for (let at = rest.indexOf('@', authorityEnd); at >= 0 && at < last; at = rest.indexOf('@', at + 1)) {
    const reading = readHost(rest, at + 1)
    if (reading !== undefined && (best === undefined || reading.rank > best.rank)) best = reading
  }
  return best
}

/** Parses host and port at `start`; undefined: no valid host. */
function readHost(rest: string, start: number): Reading | undefined {
  const pathStart = endOfAuthority(rest, start)
  const parts = /^(?:\[([^[\]]*)\]|([^:[\]]*))(?::(\d*))?$/.exec(rest.slice(start, pathStart))
  if (parts === null) return undefined
  const [, ipv6, name, digits] = parts
  const canonicalHost = ipv6 === undefined ? canonicalName(name ?? '') : canonicalIpv6(ipv6)
  if (canonicalHost === undefined) return undefined
  const port = digits === undefined || digits === '' ? undefined : Number(digits)
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined
  const host = ipv6?.replace('%25', '%') ?? name ?? ''
  return { start, host, canonicalHost, port, pathStart, rank: rankOf(host, port) }
}

function rankOf(host: string, port: number | undefined): number {
  if (isIPv4(host) || host.includes(':')) return 3
  if (host.includes('.') || host.toLowerCase() === 'localhost') return 2
  return port === undefined ? 0 : 1
}

function endOfAuthority(rest: string, start: number): number {
  const length = rest.slice(start).search(/[/?#]/)
  return length < 0 ? rest.length : start + length
}

/** Returns the canonical form of a host name or IPv4 address; undefined: it is neither. */
function canonicalName(name: string): string | undefined {
  if (name === '' || name.length > 253) return undefined
  if (isIPv4(name)) return name
  const labels = name.replace(/\.$/, '').split('.')
  if (!labels.every((label) => /^[\p{L}\p{N}_]([\p{L}\p{N}\p{M}_-]{0,61}[\p{L}\p{N}\p{M}_])?$/u.test(label)))
    return undefined
  // A name whose last label is a number is a mistyped IPv4 address; some systems parse names such as `0x7f.1` as an
  // address.
  if (/^(\d+|0x[\da-f]*)$/i.test(labels.at(-1) ?? '')) return undefined
  // The URL parser applies IDNA (UTS 46) to the host; `http:` is used only because its URLs have a host.
  const ascii = URL.parse(`http://${name}`)?.hostname.replace(/\.$/, '') ?? ''
  return ascii === '' || isIPv4(ascii) ? undefined : ascii
}

/** Returns the canonical form of an IPv6 address (RFC 4291; a zone as in RFC 6874); undefined: invalid. */
function canonicalIpv6(text: string): string | undefined {
  const [address = '', zone, ...more] = text.replace('%25', '%').split('%')
  if (!isIPv6(address) || more.length > 0) return undefined
  if (zone !== undefined && !/^[\w.-]{1,32}$/.test(zone)) return undefined
  const short = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? address
  return zone === undefined ? short : `${short}%${zone}`
}

/**
 * Whether a text is an IPv4 address: four decimal numbers of one byte each, without leading zeros. Equivalent to
 * `isIPv4` of node:net, which browsers do not have.
 */
function isIPv4(text: string): boolean {
  return /^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(?!$)|$)){4}$/.test(text)
}

/** Whether a text is an IPv6 address (RFC 4291) without a zone. */
function isIPv6(text: string): boolean {
  return /^[\da-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]`)
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** Returns the reason why a text has no valid host. */
function complaintAbout(rest: string): Complaint {
  const authority = rest.slice(0, endOfAuthority(rest, 0))
  const place = authority.slice(authority.lastIndexOf('@') + 1)
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(place) ?? []
  if (place === '' || host === '') return complaint('addressNoHost')
  if (host.startsWith('[')) return complaint('addressIpv6')
  if (isIPv6(place)) return complaint('addressBrackets')
  if (/^[\d.]+$/.test(host) && !isIPv4(host)) return complaint('addressIpv4')
  if (port !== undefined && port !== '' && !(Number(port) >= 1 && Number(port) <= 65_535 && /^\d+$/.test(port)))
    return complaint('addressPort')
  return complaint('addressHost')
}

function splitLogin(text: string): DeviceLogin | undefined {
  if (text === '') return undefined
  const colon = text.indexOf(':')
  if (colon < 0) return { name: percentDecoded(text), password: '' }
  return { name: percentDecoded(text.slice(0, colon)), password: percentDecoded(text.slice(colon + 1)) }
}

/**
 * Decodes each sequence of percent-escapes that is valid UTF-8 without control characters. Keeps all other text,
 * because a pasted password may contain a bare `%`.
 */
function percentDecoded(text: string): string {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) => {
    try {
      const decoded = decodeURIComponent(run)
      return hasControlCharacter(decoded) ? run : decoded
    } catch {
      return run
    }
  })
}
