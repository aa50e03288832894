import type { Disclosure } from '../../../shared/operation.ts'
import { shownMessage } from './message.ts'
import { type Disclosing, shownValue } from './redacted-parameters.ts'
import { textLength } from './plain-text.ts'

/** Longest answer that is looked into. */
const longest = 4_096
/** Items of a list that are shown. */
const maxItems = 3

/** Texts of an answer that the operator may see: the controller's own words and addresses, and what a request may show as well. Others are shown by their length. */
const disclosures = new Map<string, Disclosure | 'own' | 'message'>([
  ...(['uri', 'protocol', 'rest_uri', 'url', 'addr'] as const).map((name) => [name, 'own'] as const),
  ...(['msg', 'err'] as const).map((name) => [name, 'message'] as const),
  ...(['room_id', 'roomId', 'room_extend_id'] as const).map((name) => [name, 'room'] as const),
  ...(['user_id', 'userId'] as const).map((name) => [name, 'user'] as const),
  ...(['user_address', 'userAddress'] as const).map((name) => [name, 'address'] as const),
  ...(['accessToken', 'credential', 'username', 'host_password'] as const).map((name) => [name, 'secret'] as const),
])

/** An answer as it may be shown. `text` is JSON that the controller made; empty stays empty. */
export function shownAnswer(text: string, disclosing: Disclosing): string {
  if (text === '') return ''
  if (text.length > longest) return textLength(text)
  return JSON.stringify(shownPart('', JSON.parse(text), disclosing))
}

function shownPart(name: string, value: unknown, disclosing: Disclosing): unknown {
  if (typeof value === 'string') return shownText(name, value, disclosing)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.slice(0, maxItems).map((item) => shownPart(name, item, disclosing))
    return value.length > maxItems ? [...items, `[${value.length - maxItems} more]`] : items
  }
  // Whatever a client once sent is in them.
  if (name === 'options') return `[object of ${Object.keys(value).length}]`
  const fields = Object.entries(value).map(([field, inner]: [string, unknown]) => [
    field,
    shownPart(field, inner, disclosing),
  ])
  return Object.fromEntries(fields)
}

function shownText(name: string, value: string, disclosing: Disclosing): string {
  const disclosure = disclosures.get(name) ?? 'length'
  if (value === '' || disclosure === 'own') return value
  return disclosure === 'message' ? shownMessage(value, disclosing.withheld) : shownValue(disclosure, value, disclosing)
}
