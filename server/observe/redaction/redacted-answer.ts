import type { AnyAnswerDisclosure } from '../../../shared/disclosure.ts'
import { operationsOfOlderClients } from '../../../shared/field-operations.ts'
import { allOperations } from '../../../shared/operations.ts'
import { shownMessage } from './message.ts'
import { type Disclosing, shownValue } from './redacted-parameters.ts'
import { textLength } from './plain-text.ts'

/** Longest answer that is looked into. */
const longest = 4_096
/** Items of a list that are shown. */
const maxItems = 3

/** Fields that every answer of an API may have around those of its operation. */
const envelope = { ret: 'plain', result: 'plain', msg: 'message', err: 'message' } as const
type Disclosures = Readonly<Record<string, AnyAnswerDisclosure>>

/** Those of older clients are the last: their answers have the fields of the others, and more. */
const byOperation: ReadonlyMap<string, Disclosures> = new Map(
  [...allOperations, ...operationsOfOlderClients.media, ...operationsOfOlderClients.device].map(({ name, answer }) => [
    name,
    { ...answer, ...envelope },
  ]),
)

/**
 * An answer as it may be shown: of each field what the operation's contract discloses, of all others the length.
 * @param operation empty where the request named none
 * @param text JSON that the controller made; empty stays empty
 */
export function shownAnswer(operation: string, text: string, disclosing: Disclosing): string {
  if (text === '') return ''
  if (text.length > longest) return textLength(text)
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
