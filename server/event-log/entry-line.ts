import { hash } from 'node:crypto'
import type { EventEntry, EventFields } from '../../shared/domain/events.ts'
import { shownName } from '../../shared/control-character.ts'

/** Content of an entry. The log adds number, time and hashes. */
export type EventContent = Omit<EventEntry, 'seq' | 'prev' | 'hash'>

/** Position in the chain: number and hash of the entry that precedes the next entry. */
export interface ChainEnd {
  /** Number of the entry; 0: the position before the first entry. */
  seq: number
  hash: string
}

/** Length of a SHA-256 in base64url, in characters. */
const hashLength = 43
/** `prev` of the first entry. In a later entry, this `prev` means that the log was continued without a valid seal. */
export const noHash = 'A'.repeat(hashLength)
export const beginning: ChainEnd = { seq: 0, hash: noHash }

const head = '{"prev":"'
const seqAt = head.length + hashLength + '","seq":'.length
const hashField = ',"hash":"'
const tail = '"}'
/** Number of bytes of a line after its hashed part. */
const suffixLength = hashField.length + hashLength + tail.length

/**
 * Returns the line of an entry that follows `before`, with its newline, and the entry. The hash is computed from the
 * bytes before the field `hash`.
 */
export function lineAfter(before: ChainEnd, content: EventContent): { line: string; entry: EventEntry } {
  const numbered = { prev: before.hash, seq: before.seq + 1, ...content }
  const text = JSON.stringify(numbered)
  const body = text.slice(0, -1)
  const own = hash('sha256', body, 'base64url')
  return { line: `${body}${hashField}${own}${tail}\n`, entry: { ...numbered, hash: own } }
}

/** Position of a line in the chain, read at fixed offsets without parsing JSON. */
interface LinePlace extends ChainEnd {
  prev: string
}

/** Returns the position of a line (without newline); undefined: the line has another form. */
export function linePlaceOf(line: Buffer): LinePlace | undefined {
  const end = line.length
  if (end < seqAt + suffixLength + 1 || line.toString('latin1', 0, head.length) !== head) return undefined
  if (line.toString('latin1', end - tail.length, end) !== tail) return undefined
  const hashAt = end - tail.length - hashLength
  if (line.toString('latin1', hashAt - hashField.length, hashAt) !== hashField) return undefined
  let seq = 0
  for (let index = seqAt; index < end; index++) {
    const digit = (line[index] ?? 0) - 48
    if (digit < 0 || digit > 9) break
    seq = seq * 10 + digit
  }
  const prev = line.toString('latin1', head.length, head.length + hashLength)
  return { seq, prev, hash: line.toString('latin1', hashAt, hashAt + hashLength) }
}

/** Whether a line is unchanged: its hash matches its bytes. */
export function isIntact(line: Buffer, { hash: storedHash }: LinePlace): boolean {
  return hash('sha256', line.subarray(0, line.length - suffixLength), 'base64url') === storedHash
}

/**
 * Returns the entry of a line; undefined: the line is not an entry. Nested fields are not validated, because the
 * controller wrote them.
 */
export function eventEntryOf(line: Buffer | string): EventEntry | undefined {
  try {
    const value: unknown = JSON.parse(line.toString())
    return isEntry(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isEntry(value: unknown): value is EventEntry {
  return (
    typeof value === 'object' &&
    value !== null &&
    'seq' in value &&
    'at' in value &&
    typeof value.at === 'number' &&
    'kind' in value &&
    'subject' in value &&
    'actor' in value &&
    'params' in value
  )
}

/** Maximum length of one text of an entry, in characters. */
const maxText = 300
/** Maximum number of fields in one part of an entry. */
const maxFields = 40

/** Shortens long texts so that the line of the entry has at most about 60 kB. */
export function boundedContent(content: EventContent): EventContent {
  const { actor, subject, params, before, after, room, ...rest } = content
  return {
    ...rest,
    actor: { type: actor.type, name: shown(actor.name), address: short(actor.address) },
    subject: { type: subject.type, id: short(subject.id), name: shown(subject.name) },
    room: short(room),
    params: boundedFields(params),
    ...(before === undefined ? {} : { before: boundedFields(before) }),
    ...(after === undefined ? {} : { after: boundedFields(after) }),
  }
}

function boundedFields(fields: EventFields): EventFields {
  const entries = Object.entries(fields)
  const isShort =
    entries.length <= maxFields && entries.every(([, value]) => typeof value !== 'string' || shown(value) === value)
  if (isShort) return fields
  const kept = entries.slice(0, maxFields)
  return Object.fromEntries(
    kept.map(([name, value]) => [short(name), typeof value === 'string' ? shown(value) : value]),
  )
}

/** Replaces names of an earlier version in a text, and shortens the text. */
function shown(text: string): string {
  return short(shownName(text))
}

function short(text: string): string {
  return text.length > maxText ? `${text.slice(0, maxText)}…` : text
}
