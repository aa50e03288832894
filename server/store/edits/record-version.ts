import { hash } from 'node:crypto'
import type { RecordKind, RecordRef } from '../../../shared/domain/record-fields.ts'
import type { RecordReader } from '../capability-rules.ts'
import { type Fields, fieldsOf, type RecordOf, storedFields } from './stored-fields.ts'

/** Characters of a field's digest: 36 bits tell two values apart. */
const digestLength = 6

/** Versions by record, which never changes in place. */
const known = new WeakMap<object, string>()

/**
 * Version of a record: the digests of its fields, in order. It is derived from what is stored, so that a change costs nothing more, and every controller of a site, a restart and a
 * restored backup agree. A secret counts by its sealed text, which tells nothing about it.
 */
export function versionOf<K extends RecordKind>(kind: K, record: RecordOf<K>): string {
  const made = known.get(record)
  if (made !== undefined) return made
  const version = versionOfFields(fieldsOf(kind, record))
  known.set(record, version)
  return version
}

/** The same of a record by its key; empty: there is none. */
export function versionIn(reader: RecordReader, record: RecordRef): string {
  const fields = storedFields(reader, record)
  return fields === undefined ? '' : versionOfFields(fields)
}

export function versionOfFields(fields: Fields): string {
  return Object.values(fields).map(digestOf).join('')
}

/** Fields that differ from those of a version. A version of another program, which has other fields, differs in all. */
export function changedSince(seen: string, fields: Fields): string[] {
  const names = Object.keys(fields)
  if (seen.length !== names.length * digestLength) return names
  return names.filter((name, at) => seen.slice(at * digestLength, (at + 1) * digestLength) !== digestOf(fields[name]))
}

/**
 * Fields that an edit must not change, because others changed them since the version that its caller saw. All other fields of the edit are merged with those of others.
 * @param before fields as they are
 * @param after fields as the edit would make them
 */
export function overlap(seen: string, before: Fields, after: Fields): string[] {
  return changedSince(seen, before).filter((name) => canonical(before[name]) !== canonical(after[name]))
}

function digestOf(value: unknown): string {
  return hash('sha256', canonical(value), 'base64url').slice(0, digestLength)
}

/** JSON with the keys of each object in order: equal values are equal texts. Null and what is left out are the same. */
function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  )
}
