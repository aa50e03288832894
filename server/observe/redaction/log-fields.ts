import { redacted } from './plain-text.ts'

/**
 * Names of fields whose value is a secret: `access_token`, `loginPassword`, `secrets_sealed`, `set-cookie`,
 * `credential`.
 */
const secretName = /toc?ken|digest|secret|passw|pwd|^pass$|authori[sz]ation|cookie|console_?key|private_?key/i
/** A value after a secret name within a text: `password=x`, `"access_token":"x"`. */
const secretValue =
  /((?:toc?ken|digest|secret|passw|pwd|loginpas|credential)[\w-]{0,40}["']?\s{0,4}[=:]\s{0,4}["']?)([^\s"'&,;}\])]+)/gi
/**
 * The token in the path of a live stream, a recorded span or a recorded file: everyone with the address may watch. No
 * file of the program has such a long name.
 */
const tokenInPath = /(\/(?:live|recorded|record)\/)[\w.~-]{34,}/g
const words = /[^\s"'<>]+/g
/** End of a message in which the JSON parser quotes its input. */
const quoted = '" is not valid JSON'

/**
 * Fields of an error that are logged in addition to its message and stack. Other fields may contain parsed input, such
 * as the `input` of an invalid URL.
 */
const errorFields = [
  'code',
  'errno',
  'syscall',
  'address',
  'port',
  'path',
  'field',
  'reason',
  'kind',
  'status',
  'signal',
  'exitCode',
  'problems',
] as const
const deepest = 6
const maxList = 100

/** Returns the fields of a log line without secrets, at any depth. */
export function withoutSecrets(fields: Record<string, unknown>, depth = 0): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .slice(0, maxList)
      .map(([name, value]) => [name, isSecret(name, value) ? redacted : logged(value, depth)]),
  )
}

/**
 * Whether a field of this name contains a secret. `credential` may be a credential of the site (an object), or a
 * password (a text).
 */
export function isSecret(name: string, value: unknown): boolean {
  return value !== undefined && (secretName.test(name) || (name === 'credential' && typeof value === 'string'))
}

/** Returns a text of the log without logins and secrets in it. */
export function withoutSecretText(text: string): string {
  return withoutQuotedJson(text)
    .replace(words, withoutLogin)
    .replace(tokenInPath, `$1${redacted}`)
    .replace(secretValue, `$1${redacted}`)
}

/**
 * Removes the part of a word before its last `@`, if it looks like a login: `rtsp://user:password@`, `user:password@`.
 */
function withoutLogin(word: string): string {
  const at = word.lastIndexOf('@')
  if (at <= 0) return word
  const before = word.slice(0, at)
  const [, scheme = '', rest = ''] = /^([a-z][a-z\d+.-]*:\/\/)?(.*)$/is.exec(before) ?? []
  // An @ in the path of a module or a page is harmless; an @ in a camera's address always ends a login.
  if (/^(?:file|node):/i.test(scheme)) return word
  const authority = rest.split('/', 1)[0] ?? ''
  const isHost = rest.includes('/') && /^[\w.-]*(?::\d+)?$/.test(authority)
  const isPath = /^https?:/i.test(scheme) || scheme === ''
  const lastPiece = rest.slice(rest.lastIndexOf('/') + 1)
  const isHarmless = isPath && (!rest.includes(':') || (isHost && !lastPiece.includes(':')))
  return isHarmless ? word : `${redacted}${word.slice(at)}`
}

function withoutQuotedJson(text: string): string {
  const end = text.lastIndexOf(quoted)
  const start = text.indexOf('"')
  return end <= start || start === -1 ? text : `${text.slice(0, start)}[…]${text.slice(end + 1)}`
}

function logged(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return withoutSecretText(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Error) return loggedError(value, depth)
  if (depth >= deepest) return '[deeper]'
  if (Array.isArray(value)) return value.slice(0, maxList).map((item) => logged(item, depth + 1))
  // Values with their own JSON form, such as a Date or a URL, are logged in that form.
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return logged(JSON.parse(JSON.stringify(value)) as unknown, depth + 1)
  return withoutSecrets({ ...value }, depth + 1)
}

/** Returns a complete error: its type, message, stack and cause. */
function loggedError(error: Error, depth: number): Record<string, unknown> {
  const own: Record<string, unknown> = Object.fromEntries(Object.entries(error))
  const more = errorFields.flatMap((name): [string, unknown][] =>
    own[name] === undefined ? [] : [[name, logged(own[name], depth + 1)]],
  )
  const causes = depth < deepest && error.cause !== undefined ? { cause: logged(error.cause, depth + 1) } : {}
  const several =
    error instanceof AggregateError
      ? { errors: error.errors.slice(0, maxList).map((one: unknown) => logged(one, depth + 1)) }
      : {}
  return {
    type: error.constructor.name,
    message: withoutSecretText(error.message),
    stack: withoutSecretText(error.stack ?? ''),
    ...Object.fromEntries(more),
    ...causes,
    ...several,
  }
}
