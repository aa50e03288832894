import type { EditConflict } from '../../../shared/domain/edit-conflict.ts'
import type { RecordKind } from '../../../shared/domain/record-fields.ts'
import { CallError, plain } from '../../kit/transport/transport.ts'
import { askAboutConflict } from './conflict.ts'

/** Fields of an edit, by their names in the input of its procedure. */
export type EditedFields = Readonly<Record<string, unknown>>

/** Changed fields, with the record's version at the start of editing. */
export type Changes<F> = Partial<F> & { expected_version?: string }

/** A record at the start of editing. */
export interface SeenRecord {
  kind: RecordKind
  /** Undefined: the controller has an earlier version, which cannot merge changes. */
  version: string | undefined
  fields: EditedFields
}

/**
 * Sends the fields that differ from the record. If others changed the same fields, the operator decides, and the
 * remaining fields are sent again.
 * @throws CallError with an empty message if the operator continues editing; errors of `send`
 */
export async function sendChanges<F extends object, R>(
  { kind, version, fields: before }: SeenRecord,
  after: F,
  send: (changes: Changes<F>) => Promise<R>,
): Promise<R> {
  const given = plain(after) as EditedFields
  // A controller of an earlier version may reset missing fields to their defaults, so all are sent.
  let changed = version === undefined ? given : changedFields(before, given)
  let seen = version
  let base = before
  for (;;) {
    try {
      // These are fields of F with their names.
      return await send({ ...changed, ...(seen === undefined ? {} : { expected_version: seen }) } as Changes<F>)
    } catch (error) {
      const conflict = error instanceof CallError ? error.conflict : undefined
      if (conflict === undefined) throw error
      changed = await resolved(kind, conflict, base, changed)
      base = { ...base, ...currentValues(conflict.fields) }
      seen = conflict.version
    }
  }
}

/** Fields whose parts have separate controls. */
const partedFields: Partial<Record<RecordKind, string>> = { template: 'settings' }

/**
 * Returns the fields to send after a conflict. @throws CallError with an empty message if the operator continues
 * editing
 */
async function resolved(
  kind: RecordKind,
  { fields }: EditConflict,
  base: EditedFields,
  changed: EditedFields,
): Promise<EditedFields> {
  const parted = new Map(
    fields
      .filter(({ field }) => field === partedFields[kind])
      .map(({ field, current }) => [field, mergeParts(base[field], changed[field], current)]),
  )
  const asked = fields
    .filter(({ field }) => !parted.has(field) || parted.get(field)?.overlap !== undefined)
    .map((one) => ({ ...one, mine: changed[one.field], ...parted.get(one.field)?.overlap }))
  const mine = asked.length === 0 ? [] : await askAboutConflict(kind, asked)
  if (mine === undefined) throw new CallError('conflict', '')
  const others = fields.filter(({ field }) => !mine.includes(field))
  const merged = [...parted].map(([field, parts]) => [field, mine.includes(field) ? parts.mine : parts.theirs] as const)
  const kept = [...Object.entries(changed).filter(([name]) => !others.some(({ field }) => field === name)), ...merged]
  // If nothing is left, the values of others are sent unchanged: some procedures require a field.
  return kept.length > 0 ? Object.fromEntries(kept) : currentValues(others)
}

/** Returns the values of others; secrets have none. */
function currentValues(fields: EditConflict['fields']): EditedFields {
  return Object.fromEntries(
    fields.flatMap(({ field, current }) => (current === undefined ? [] : [[field, current] as const])),
  )
}

function changedFields(before: EditedFields, after: EditedFields): EditedFields {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  )
}

/** Parts of a field, each with its own control, by name. */
type Parts = Readonly<Record<string, unknown>>

/** Result of merging one operator's change of a field with the changes of others. */
interface MergedParts {
  /** The field with the operator's value in parts that both changed. */
  mine: Parts
  /** The field with the value of others in parts that both changed. */
  theirs: Parts
  /** Both values of the parts that both changed; null: the part is missing. undefined: there are no such parts. */
  overlap: { mine: Parts; current: Parts } | undefined
}

/**
 * Merges two changes of one field.
 * @param before value that both started from
 * @param mine value of this operator
 * @param current value of others
 */
function mergeParts(before: unknown, mine: unknown, current: unknown): MergedParts {
  const [old, own, now] = [partsOf(before), partsOf(mine), partsOf(current)]
  const names = [...new Set([...Object.keys(own), ...Object.keys(now)])]
  const isMine = (name: string): boolean => differs(own[name], old[name])
  const isTheirs = (name: string): boolean => differs(now[name], old[name])
  const both = names.filter((name) => isMine(name) && isTheirs(name) && differs(own[name], now[name]))
  const pick = (parts: Parts): Parts => Object.fromEntries(both.map((name) => [name, parts[name] ?? null]))
  const made = (from: (name: string) => Parts): Parts =>
    Object.fromEntries(names.map((name) => [name, from(name)[name]]).filter(([, value]) => value !== undefined))
  return {
    mine: made((name) => (isMine(name) ? own : now)),
    theirs: made((name) => (isTheirs(name) ? now : own)),
    overlap: both.length === 0 ? undefined : { mine: pick(own), current: pick(now) },
  }
}

function partsOf(value: unknown): Parts {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** Returns whether a part differs; missing, false and empty count as equal. */
function differs(one: unknown, other: unknown): boolean {
  return text(one) !== text(other)
}

function text(value: unknown): string {
  const isEmpty = value === null || value === undefined || value === false || value === ''
  return isEmpty || (Array.isArray(value) && value.length === 0) ? '' : JSON.stringify(value)
}
