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
  return `${scheme}${login}${shownHost(parsed, text)}${shownPath(path)}`
}

/**
 * Returns host and port for display. A bare name may be half of a login (`rtsp://admin:12345`). With two `@`, the
 * parser may have taken the wrong `@` as the end of the login. In both cases, only an IP address is displayed.
 */
function shownHost({ host, port }: DeviceAddress, text: string): string {
  const [address = ''] = host.split('%')
  const family = isIP(address)
  if (family === 6) return `[${address}]:${port}`
  if (family === 4) return `${address}:${port}`
  const rest = text.slice(text.indexOf('://') + 3)
  const at = rest.indexOf('@')
  const sure = at === -1 || (!rest.includes('@', at + 1) && !/[/?#]/.test(rest.slice(0, at)))
  return sure && (host.includes('.') || host.toLowerCase() === 'localhost') ? `${host}:${port}` : textLength(host)
}

function shownPath(pathAndQuery: string): string {
  const question = pathAndQuery.search(/[?#]/)
  const path = question === -1 ? pathAndQuery : pathAndQuery.slice(0, question)
  const segments = path.split('/').slice(1)
  const plain = segments.findIndex((segment) => segment !== '' && !isPlainText(segment))
  if (plain !== -1) {
    const shown = segments.slice(0, plain).map((segment) => `/${segment}`)
    return `${shown.join('')}/${textLength(pathAndQuery.slice(shown.join('').length + 1))}`
  }
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
