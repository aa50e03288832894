import type { Disclosure } from '../../../shared/disclosure.ts'
import { allOperations } from '../../../shared/operations.ts'
import { shownAddress } from './address.ts'
import { isPlainText, isShortNumber, redacted, textLength } from './plain-text.ts'

/** Names that exist on the site, which are not secrets of a caller. Each check is one look-up. */
export interface KnownNames {
  credential(accessKey: string): boolean
  room(roomId: string): boolean
  /** Whether a device with this id exists. */
  user(userId: string): boolean
}

/** State of the redaction of one request's parameters. */
export interface Disclosing {
  known: KnownNames
  /** Whether the request succeeded, so that every name in the request exists. */
  succeeded: boolean
  /** Texts of the request that are not shown, and that no message may quote. */
  withheld: string[]
}

/** Maximum number of parameters of one request that are shown. */
const maxParams = 32
/**
 * Maximum number of withheld characters of one request for which messages are searched. Above this number, all words
 * except the controller's own words are hidden.
 */
export const maxWithheld = 1_024

const byOperation = new Map(allOperations.map(({ name, disclosure }) => [name, new Map(Object.entries(disclosure))]))
/**
 * Parameter names that callers are known to send to any operation: the names are harmless, their values need not be.
 */
const everywhere = new Map<string, Disclosure>([
  ...['callback', 'client_info', 'uri_encode', 'start_time', 'end_time', 'room_type', 'user_name', 'login_name'].map(
    (name) => [name, 'length'] as const,
  ),
  ['_', 'number'],
  ...allOperations.flatMap(({ disclosure }) => Object.entries(disclosure)),
  ...allOperations.flatMap(({ token }) => (token ?? []).map((name) => [name, 'secret'] as const)),
  ...[
    ...['secret_key', 'secretKey', 'accessKey', 'secret', 'login_password', 'password', 'passwd', 'pass', 'pwd'],
    ...['authorization', 'Authorization', 'cookie', 'key', 'random'],
  ].map((name) => [name, 'secret'] as const),
])

/** Whether callers are known to send a parameter of this name. */
export function isKnownParameter(name: string): boolean {
  return everywhere.has(name)
}

/**
 * Returns the parameters of a request for display. A value that the operation's contract does not disclose is shown by
 * its kind and length; an unknown name by its length.
 */
export function shownParameters(
  operation: string,
  params: ReadonlyMap<string, unknown>,
  disclosing: Disclosing,
): Record<string, string> {
  const own = byOperation.get(operation)
  const shown: [string, string][] = []
  for (const [name, value] of params) {
    if (shown.length === maxParams) {
      // There are too many parameters to search for, so messages of this request may contain only the controller's own
      // words.
      disclosing.withheld.push('\u0000'.repeat(maxWithheld + 1))
      break
    }
    const disclosure = own?.get(name)
    // A parameter that the operation does not declare was not checked, so success does not make it harmless.
    const text =
      disclosure === undefined
        ? shownValue(everywhere.get(name) ?? 'length', value, { ...disclosing, succeeded: false })
        : shownValue(disclosure, value, disclosing)
    shown.push([shownName(name, shown.length, disclosing), text])
  }
  return Object.fromEntries(shown)
}

/** Returns a name for display; an index keeps names of the same length distinct. */
function shownName(name: string, index: number, { withheld }: Disclosing): string {
  if (isKnownParameter(name)) return name
  withheld.push(name)
  return `parameter ${index + 1} ${textLength(name)}`
}

/** Returns one value for display. */
export function shownValue(disclosure: Disclosure, value: unknown, disclosing: Disclosing): string {
  const text = typeof value === 'string' ? disclosed(disclosure, value, disclosing) : shownJson(disclosure, value)
  if (text !== value) disclosing.withheld.push(typeof value === 'string' ? value : JSON.stringify(value))
  return text
}

function disclosed(disclosure: Disclosure, value: string, { known, succeeded }: Disclosing): string {
  if (disclosure === 'secret') return redacted
  if (value === '') return ''
  if (typeof disclosure === 'object') {
    const isWord = Array.isArray(disclosure) && disclosure.includes(value)
    return isWord ? value : 'fields' in disclosure ? shownDocument(disclosure, value) : textLength(value)
  }
  if (disclosure === 'address') return shownAddress(value)
  return isDisclosed(disclosure, value, known, succeeded) ? value : textLength(value)
}

function isDisclosed(disclosure: Disclosure, value: string, known: KnownNames, succeeded: boolean): boolean {
  switch (disclosure) {
    case 'number':
      return isShortNumber(value)
    case 'credential':
      return known.credential(value)
    case 'room':
      return succeeded || known.room(value) || isShortNumber(value) || isPlainText(value)
    case 'roomFilter':
      return known.room(value) || isShortNumber(value) || isPlainText(value)
    case 'user':
      return succeeded || known.user(value) || isShortNumber(value) || isPlainText(value)
    default:
      return false
  }
}

/**
 * Returns the JSON text of an object for display. An invalid document is shown by its length, because half a document
 * may contain a whole password.
 */
function shownDocument(disclosure: Disclosure, text: string): string {
  if (!/^\s*\{/.test(text)) return textLength(text)
  try {
    return shownJson(disclosure, JSON.parse(text))
  } catch {
    return textLength(text)
  }
}

/** Returns a JSON value of a body for display: the known fields of an object, only the kind of other values. */
function shownJson(disclosure: Disclosure, value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (disclosure === 'secret') return redacted
  if (typeof value === 'number')
    return disclosure === 'number' && isShortNumber(String(value)) ? String(value) : '[number]'
  if (typeof value !== 'object') return typeof value === 'string' ? textLength(value) : '[nothing]'
  if (Array.isArray(value)) return `[list of ${value.length}]`
  if (typeof disclosure !== 'object' || !('fields' in disclosure)) return `[object of ${Object.keys(value).length}]`
  const shown = Object.entries(value).map(([name, field]: [string, unknown], index) => {
    const fields = new Map(Object.entries(disclosure.fields))
    const own = fields.get(name) ?? everywhere.get(name)
    if (own === undefined) return [`field ${index + 1} ${textLength(name)}`, shownField('length', field)]
    return [name, shownField(own, field)]
  })
  return JSON.stringify(Object.fromEntries(shown.slice(0, maxParams)))
}

const nobody: KnownNames = { credential: () => false, room: () => false, user: () => false }

function shownField(disclosure: Disclosure, value: unknown): string {
  return typeof value === 'string'
    ? disclosed(disclosure, value, { known: nobody, succeeded: false, withheld: [] })
    : shownJson(disclosure, value)
}
