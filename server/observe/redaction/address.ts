import { isIP } from 'node:net'
import { type DeviceAddress, parseDeviceAddress } from '../../../shared/device-address.ts'
import { isPlainText, redacted, textLength } from './plain-text.ts'

/** Names in the query of a camera's address that stand for no secret. */
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
 * A camera's address as it may be shown: in the one form that its parser made of it, without login, and of path and query what is plain up to the first piece that is not (cameras take
 * logins there, too). A text that is no address is shown by its length.
 */
export function shownAddress(text: string): string {
  const parsed = parsedAddress(text)
  if (parsed === undefined) return text === '' ? '' : textLength(text)
  const [, scheme = '', , path = ''] = /^(rtsps?:\/\/)(\[[^\]]*\]|[^/:]*):\d+(.*)$/s.exec(parsed.canonical) ?? []
  const login = text.includes('@') ? `${redacted}@` : ''
  return `${scheme}${login}${shownHost(parsed, text)}${shownPath(path)}`
}

/** Host and port. A bare name may be half a login (`rtsp://admin:12345`), and of two `@` the wrong one may have been taken for the login's end: then only an IP address is sure. */
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
