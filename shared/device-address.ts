import { hasControlCharacter } from './control-character.ts'
import { limits } from './limits.ts'
import { utf8Length } from './operation.ts'
import { ApiError } from './result-codes.ts'

/** The one parser of cameras' addresses: the controller stores, the node connects and the console shows what it finds. */

/** A login of a device; either part may be empty. */
export interface DeviceLogin {
  name: string
  password: string
}

/** A device's address, taken apart (contract, section 4). */
export interface DeviceAddress {
  /** As it was written, without login: what is stored and shown. */
  address: string
  /** Equal for two spellings of one address: scheme and host in lower case, the port always there, an empty path as `/`. */
  canonical: string
  /** Scheme, host and port of `canonical`: who is called, and how. */
  origin: string
  /** The `user:password@` that was in it; undefined when there was none. */
  login: DeviceLogin | undefined
  /** Request URL for the camera: ASCII without spaces, no login, no zone (RFC 6874, section 4: a zone means something on this machine only). */
  requestUrl: string
  /** Name, IPv4, or IPv6 without brackets; a zone follows a bare `%`, as sockets take it. */
  host: string
  /** 1 to 65535. */
  port: number
  /** RTSP over TLS. */
  secure: boolean
}

/** A camera as it is pulled. */
export interface CameraSource {
  address: DeviceAddress
  login: DeviceLogin | undefined
}

/** Equal for two sources that are one camera, however its address is spelled: with one login it is pulled once. Holds the password: never show or log it. */
export function cameraKey({ address, login }: CameraSource): string {
  return JSON.stringify([address.canonical, login?.name ?? '', login?.password ?? ''])
}

/** Default port of both schemes (contract, section 4). RFC 7826 registers 322 for rtsps, which cameras do not use. */
const defaultPort = 554

/** One way to read the text after the scheme: where the host begins, and what stands there. */
interface Reading {
  /** Index of the host in the text; the login, when there is one, ends one before. */
  start: number
  /** As it was written, without brackets and with the zone after a bare `%`. */
  host: string
  canonicalHost: string
  /** undefined when it was left out. */
  port: number | undefined
  /** Index of the path. */
  pathStart: number
  /** How sure it is that this is a camera's host: IP address, dotted name, name with a port, bare name. */
  rank: number
}

/**
 * Takes a device's address apart. A login may be written as people paste it: a password may hold `@:/?#%` and any letters; what is validly percent-encoded is decoded.
 * @param field which parameter it came in, for the error
 * @throws ApiError 'parameter' with one plain sentence, which never quotes the address
 */
export function parseDeviceAddress(text: string, field = 'userAddress'): DeviceAddress {
  const refuse = (message: string): never => {
    throw new ApiError('parameter', { field, message: `${field} ${message}` })
  }
  const trimmed = text.trim()
  if (trimmed === '') refuse('is empty: it must be rtsp://host:port/path.')
  if (utf8Length(trimmed) > limits.userAddress) refuse(`is longer than ${limits.userAddress} bytes.`)
  if (!trimmed.isWellFormed() || hasControlCharacter(trimmed)) refuse('holds a character that cannot be in an address.')
  const [start, scheme = ''] = /^(rtsps?):\/\//i.exec(trimmed) ?? refuse('must begin with rtsp:// or rtsps://.')
  const rest = trimmed.slice(start.length)
  const reading = read(rest) ?? refuse(complaint(rest))
  const path = rest.slice(reading.pathStart)
  if (/\s/.test(path)) refuse('holds a space in its path: write %20.')
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

/** Two addresses name the same stream, whatever login stands in them. Texts that are no addresses are compared as they are. */
export function sameAddress(one: string, other: string): boolean {
  return one === other || canonical(one) === canonical(other)
}

/**
 * Whether a login that was given for some addresses may be sent to others: each of them is of the same scheme, host and port as one of those. Empty texts count for
 * nothing, texts that are no addresses only for themselves.
 */
export function isLoginFor(given: readonly string[], others: readonly string[]): boolean {
  const origins = new Set(given.map(originOf))
  return others.every((address) => address.trim() === '' || origins.has(originOf(address)))
}

/**
 * The request URL that a camera names (Content-Base, Content-Location, a control attribute): a login in it is taken out, and what may not stand in a request is escaped.
 * undefined when it is no address.
 */
export function requestUrlOf(text: string): string | undefined {
  return parsed(asciiOnly(text))?.requestUrl
}

/** A URL or a part of one with everything escaped that may not stand in the first line of a request: controls, spaces and what is not ASCII. */
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
 * Finds the host. By RFC 3986 it stands before the first `/`, `?` or `#` and after the last `@` there. People paste passwords that hold those characters, so every later
 * `@` is tried too when what stands before it looks like `name:password`; the reading with the surest host wins, the earliest of equals.
 */
function read(rest: string): Reading | undefined {
  const authorityEnd = endOfAuthority(rest, 0)
  const plainStart = rest.lastIndexOf('@', authorityEnd - 1) + 1
  let best = authorityEnd === 0 ? undefined : readHost(rest, plainStart > authorityEnd ? 0 : plainStart)
  if (!/^[^/?#:]*:/.test(rest)) return best
  // An address inside the path (`/hikvision://192.168.1.121:8000:0:0`) is the path's, and its login too.
  const inner = rest.search(/[/?#&=][A-Za-z][A-Za-z0-9+.-]*:\/\//)
  const last = inner < 0 ? rest.length : inner
  for (let at = rest.indexOf('@', authorityEnd); at >= 0 && at < last; at = rest.indexOf('@', at + 1)) {
    const reading = readHost(rest, at + 1)
    if (reading !== undefined && (best === undefined || reading.rank > best.rank)) best = reading
  }
  return best
}

/** The host and port that begin at `start`; undefined when there is no well-formed host. */
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

/** A host name or IPv4 address in its one spelling; undefined when it is neither. */
function canonicalName(name: string): string | undefined {
  if (name === '' || name.length > 253) return undefined
  if (isIPv4(name)) return name
  const labels = name.replace(/\.$/, '').split('.')
  if (!labels.every((label) => /^[\p{L}\p{N}_]([\p{L}\p{N}\p{M}_-]{0,61}[\p{L}\p{N}\p{M}_])?$/u.test(label)))
    return undefined
  // A name whose last label is a number is a mistyped IPv4 address, and systems read `0x7f.1` as one.
  if (/^(\d+|0x[\da-f]*)$/i.test(labels.at(-1) ?? '')) return undefined
  // The URL standard's host parser does IDNA (UTS 46); the scheme is one that it reads a host of.
  const ascii = URL.parse(`http://${name}`)?.hostname.replace(/\.$/, '') ?? ''
  return ascii === '' || isIPv4(ascii) ? undefined : ascii
}

/** An IPv6 address (RFC 4291; a zone as in RFC 6874) in its one spelling; undefined when it is none. */
function canonicalIpv6(text: string): string | undefined {
  const [address = '', zone, ...more] = text.replace('%25', '%').split('%')
  if (!isIPv6(address) || more.length > 0) return undefined
  if (zone !== undefined && !/^[\w.-]{1,32}$/.test(zone)) return undefined
  const short = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? address
  return zone === undefined ? short : `${short}%${zone}`
}

/** Four decimal numbers of one byte each, without leading zeros (as node:net reads it, which is not at hand in the console). */
function isIPv4(text: string): boolean {
  return /^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(?!$)|$)){4}$/.test(text)
}

/** RFC 4291, without a zone. */
function isIPv6(text: string): boolean {
  return /^[\da-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]`)
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** Says why no host was found in a text. */
function complaint(rest: string): string {
  const authority = rest.slice(0, endOfAuthority(rest, 0))
  const place = authority.slice(authority.lastIndexOf('@') + 1)
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(place) ?? []
  if (place === '' || host === '') return 'has no host: it must be rtsp://host:port/path.'
  if (host.startsWith('[')) return 'has a malformed IPv6 address: it must be like rtsp://[2001:db8::1]:554/path.'
  if (isIPv6(place)) return 'has an IPv6 address without brackets: write rtsp://[2001:db8::1]:554/path.'
  if (/^[\d.]+$/.test(host) && !isIPv4(host)) return 'has a malformed IPv4 address: it must be like 192.168.1.64.'
  if (port !== undefined && port !== '' && !(Number(port) >= 1 && Number(port) <= 65_535 && /^\d+$/.test(port)))
    return 'has a malformed port: it must be a number from 1 to 65535.'
  return 'has a malformed host name.'
}

function splitLogin(text: string): DeviceLogin | undefined {
  if (text === '') return undefined
  const colon = text.indexOf(':')
  if (colon < 0) return { name: percentDecoded(text), password: '' }
  return { name: percentDecoded(text.slice(0, colon)), password: percentDecoded(text.slice(colon + 1)) }
}

/** Decodes every run of escapes that is valid UTF-8 without control characters, and leaves everything else as it is: a pasted password may hold a bare `%`. */
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
