import { isIP } from 'node:net'
import { type DeviceAddress, parseDeviceAddress } from '../../../shared/device-address.ts'
import { isPlainText, redacted, textLength } from './plain-text.ts'

/** Names of query parameters of camera addresses that contain no secret. */
const harmlessQuery = new Set([
  'channel',
  'subtype',
  'stream',
  'streamtype',
  'profile',
  'unicast',
  'proto',
  'transport',
])

/**
 * Returns a camera's address for display: in canonical form, and without login. Path and query end at the first part
 * that is not plain text, because cameras accept logins there, too. A text that is not an address is replaced by its
 * length.
 */
export function shownAddress(text: string): string {
  const parsed = parsedAddress(text)
  if (parsed === undefined) return text === '' ? '' : textLength(text)
  const [, scheme = '', , path = ''] = /^(rtsps?:\/\/)(\[[^\]]*\]|[^/:]*):\d+(.*)$/s.exec(parsed.canonical) ?? []
  const login = text.includes('@') ? `${redacted}@` : ''
  return `${scheme}${login}${certainHost(parsed, text) ?? textLength(parsed.host)}${shownPath(path)}`
}

/**
 * Returns host and port of an address; undefined: they may contain a part of a login. A bare name may be half of one
 * (`rtsp://admin:12345`). With two `@`, the parser may have taken the wrong `@` as the end of the login. In both cases,
 * only an IP address is returned.
 */
export function certainHost({ host, port }: DeviceAddress, text: string): string | undefined {
  const [address = ''] = host.split('%')
  const family = isIP(address)
  if (family === 6) return `[${address}]:${port}`
  if (family === 4) return `${address}:${port}`
  const rest = text.slice(text.indexOf('://') + 3)
  const at = rest.indexOf('@')
  const sure = at === -1 || (!rest.includes('@', at + 1) && !/[/?#]/.test(rest.slice(0, at)))
  return sure && (host.includes('.') || host.toLowerCase() === 'localhost') ? `${host}:${port}` : undefined
}

/** Returns a path up to its first segment that is not plain text, and may be a login. */
export function plainPath(path: string): string {
  const segments = path.split('/').slice(1)
  const plain = segments.findIndex((segment) => segment !== '' && !isPlainText(segment))
  return plain === -1
    ? path
    : segments
        .slice(0, plain)
        .map((segment) => `/${segment}`)
        .join('')
}

function shownPath(pathAndQuery: string): string {
  const question = pathAndQuery.search(/[?#]/)
  const path = question === -1 ? pathAndQuery : pathAndQuery.slice(0, question)
  const plain = plainPath(path)
  if (plain !== path) return `${plain}/${textLength(pathAndQuery.slice(plain.length + 1))}`
  if (question === -1) return path
  const query = pathAndQuery.slice(question + 1)
  const harmless = query.split('&').every((pair) => {
    const [name = '', value = '', more] = pair.split('=')
    return more === undefined && harmlessQuery.has(name.toLowerCase()) && (value === '' || isPlainText(value))
  })
  return harmless && pathAndQuery[question] === '?' ? pathAndQuery : `${path}?${textLength(query)}`
}

function parsedAddress(text: string): DeviceAddress | undefined {
  try {
    return parseDeviceAddress(text)
  } catch {
    return undefined
  }
}
