import type { ActivityEntry } from '../../../shared/console/activity.ts'
import { listOutgoingUsers } from '../../../shared/device-operations.ts'
import type { Observation } from '../observation.ts'
import {
  type Disclosing,
  type KnownNames,
  shownParameters,
  shownValue,
  isKnownParameter,
  maxWithheld,
} from './redacted-parameters.ts'
import { allOperations } from '../../../shared/operations.ts'
import { isPlainText, textLength } from './plain-text.ts'
import type { AnyAnswerDisclosure } from '../../../shared/disclosure.ts'
import { operationsOfOlderClients } from '../../../shared/field-operations.ts'
import { deviceErrorMessages } from '../../../shared/device.ts'
import { errorNames, sentenceOf } from '../../../shared/result-codes.ts'
import { visitNames } from '../../../shared/room-entry.ts'

/** Fields of a request that depend on the caller's input. */
type Shown = Pick<ActivityEntry, 'method' | 'path' | 'credential' | 'room' | 'params' | 'msg' | 'reason' | 'answer'>

/** Returns a request for display: its harmless values, and kind and length of all other values. */
export function shownRequest(observation: Observation, known: KnownNames): Shown {
  const { operation, params } = observation
  const disclosing: Disclosing = { known, succeeded: observation.ret === 0, withheld: [] }
  const shownParams = shownParameters(operation, params, disclosing)
  const path = shownPath(observation.path)
  if (path !== observation.path) disclosing.withheld.push(observation.path)
  const { credential } = observation
  return {
    method: shownMethod(observation.method),
    path,
    credential: known.credential(credential) ? credential : '',
    room: shownRoom(observation, disclosing),
    params: shownParams,
    msg: shownMessage(observation.msg, disclosing.withheld),
    reason: shownMessage(observation.reason, disclosing.withheld),
    answer: shownAnswer(operation, observation.forOlderClients === true ? (observation.text ?? '') : '', disclosing),
  }
}

/** Operations whose success does not prove that the room exists. */
const provesNothing: ReadonlySet<string> = new Set([listOutgoingUsers.name, visitNames.joinPage])

/** Returns the room; empty if the parameter is hidden. */
function shownRoom({ operation, room }: Observation, disclosing: Disclosing): string {
  const disclosure = provesNothing.has(operation) ? 'roomFilter' : 'room'
  return shownValue(disclosure, room, disclosing) === room ? room : ''
}

const operationPaths = new Set<string>(allOperations.map(({ path }) => path))
/** Words in existing paths, in paths that older clients request, and in paths that every browser requests. */
const words = new Set(
  [...operationPaths]
    .flatMap((path) => path.split('/'))
    .concat(
      [
        'jroom',
        'signal',
        'whip',
        'whep',
        'entry',
        'ws',
        'api',
        'admin',
        'config',
        'serverinfo',
        'getAccessToken',
        'get_user_number',
      ],
      [
        'get_by_room_extend_id',
        'favicon.ico',
        'robots.txt',
        'index.html',
        'openapi.json',
        'docs',
        'healthz',
        'metrics',
        'v1',
      ],
    )
    .map((word) => word.toLowerCase()),
)

/**
 * Returns a request's path for display: the path of an operation unchanged, any other path up to its first part that is
 * not a known word.
 */
function shownPath(path: string): string {
  if (operationPaths.has(path) || path === '') return path
  const segments = path.split('/')
  const plain = segments.findIndex((segment) => !words.has(segment.toLowerCase()) && !isPlainText(segment))
  if (plain === -1 && path.length <= 200) return path
  const shown = segments.slice(0, plain).join('/')
  return plain <= 0 ? textLength(path) : `${shown}/${textLength(path.slice(shown.length + 1))}`
}

const methods = new Set(['GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'CONNECT', 'TRACE'])

function shownMethod(method: string): string {
  return methods.has(method) || method === '' ? method : textLength(method)
}

/** Maximum length of an answer that is searched for secrets, in characters. */
const maxTextLength = 4_096
/** Number of items of a list that are shown. */
const maxItems = 3

/** Fields that every answer of an API may have, in addition to those of its operation. */
const envelope = { ret: 'plain', result: 'plain', msg: 'message', err: 'message' } as const
type Disclosures = Readonly<Record<string, AnyAnswerDisclosure>>

/** Disclosures by operation. Operations for older clients come last: their answers have the same fields and more. */
const byOperation: ReadonlyMap<string, Disclosures> = new Map(
  [...allOperations, ...operationsOfOlderClients.media, ...operationsOfOlderClients.device].map(({ name, answer }) => [
    name,
    { ...answer, ...envelope },
  ]),
)

/**
 * Returns an answer for display: the fields that the operation's contract discloses, and the length of all others.
 * @param operation name of the operation; empty: none
 * @param text JSON made by the controller; an empty text stays empty
 */
function shownAnswer(operation: string, text: string, disclosing: Disclosing): string {
  if (text === '') return ''
  if (text.length > maxTextLength) return textLength(text)
  return JSON.stringify(shownPart(byOperation.get(operation) ?? envelope, JSON.parse(text), disclosing))
}

function shownPart(disclosure: AnyAnswerDisclosure, value: unknown, disclosing: Disclosing): unknown {
  if (typeof value === 'string') return shownText(disclosure, value, disclosing)
  if (typeof value !== 'object' || value === null)
    return disclosure === 'secret' ? shownText('secret', '', disclosing) : value
  if (Array.isArray(value)) {
    const items = value.slice(0, maxItems).map((item) => shownPart(disclosure, item, disclosing))
    return value.length > maxItems ? [...items, `[${value.length - maxItems} more]`] : items
  }
  if (!hasFields(disclosure)) return `[object of ${Object.keys(value).length}]`
  const fields = Object.entries(value).map(([field, inner]: [string, unknown]) => [
    field,
    shownPart(Object.hasOwn(disclosure, field) ? (disclosure[field] ?? 'length') : 'length', inner, disclosing),
  ])
  return Object.fromEntries(fields)
}

function shownText(disclosure: AnyAnswerDisclosure, value: string, disclosing: Disclosing): string {
  if (value === '' || disclosure === 'own') return value
  if (disclosure === 'message') return shownMessage(value, disclosing.withheld)
  if (disclosure === 'plain' || disclosure === 'size' || hasFields(disclosure))
    return shownValue('length', value, disclosing)
  return shownValue(disclosure, value, disclosing)
}

function hasFields(disclosure: AnyAnswerDisclosure): disclosure is Disclosures {
  return typeof disclosure === 'object' && !Array.isArray(disclosure)
}

/** Placeholder of a hidden word. */
const hiddenWord = '[…]'
const maxMessage = 300

const fixed = new Set<string>(['', ...errorNames.map(sentenceOf), ...Object.values(deviceErrorMessages)])
/** Words of the controller's own sentences. */
const ownWords = new Set(
  [
    ...fixed,
    'is must be at most bytes of UTF-8 missing malformed given more than once text whole number from to camera answered login status',
  ]
    .join(' ')
    .toLowerCase()
    .split(/[^a-z\d]+/),
)

/**
 * Returns a message for display. The controller's sentences do not quote a request, but a camera's message may, and a
 * name invented by a caller may occur in a message. Words that occur in withheld texts of this request are hidden.
 */
function shownMessage(message: string, withheld: readonly string[]): string {
  if (fixed.has(message) || withheld.length === 0) return bounded(message)
  const size = withheld.reduce((sum, text) => sum + text.length, 0)
  const texts = size > maxWithheld ? undefined : withheld.flatMap(spellings).join('\n')
  const pieces = [...new Set(texts?.split(/[^\p{L}\p{N}]+/u))].filter(isReporting)
  return bounded(message)
    .split(/(\s+|[,;()"])/)
    .map((word) => {
      const bare = word.replace(/[.:!?]+$/, '')
      if (!isReporting(bare) || isKnownParameter(bare)) return word
      const isQuoted = texts === undefined || texts.includes(bare) || pieces.some((piece) => bare.includes(piece))
      return isQuoted ? hiddenWord : word
    })
    .join('')
}

/** Whether a word is long enough to carry information, and is not one of the controller's own words. */
function isReporting(word: string): boolean {
  return word.length >= 3 && !ownWords.has(word.toLowerCase())
}

/** Returns the text as sent, escaped and unescaped. */
function spellings(text: string): string[] {
  try {
    return [text, encodeURI(text), decodeURIComponent(text)]
  } catch {
    // A lone surrogate or an invalid escape: the text has no other spelling.
    return [text]
  }
}

function bounded(text: string): string {
  return text.length > maxMessage ? `${text.slice(0, maxMessage)}…` : text
}
