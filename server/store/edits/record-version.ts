import { hash } from 'node:crypto'
import type { RecordKind, RecordRef } from '../../../shared/domain/record-fields.ts'
import type { RecordReader } from '../capability-rules.ts'
import { type Fields, fieldsOf, type RecordOf, storedFields } from './stored-fields.ts'

/** Length of a field's digest, in base64url characters: 36 bits distinguish two values. */
const digestLength = 6

/** Cache of versions by record. Records are never changed in place. */
const known = new WeakMap<object, string>()

/**
 * Returns the version of a record: the digests of its fields, in order. The version is derived from the stored record,
 * so nothing else is stored. All controllers of a site compute the same version, also after a restart or a restore.
 * A secret is represented by its sealed text, so the version reveals nothing about the secret.
 */
export function versionOf<K extends RecordKind>(kind: K, record: RecordOf<K>): string {
  const made = known.get(record)
  if (made !== undefined) return made
  const version = versionOfFields(fieldsOf(kind, record))
  known.set(record, version)
  return version
}

/** Returns the version of a record by its key; empty: no such record. */
export function versionIn(reader: RecordReader, record: RecordRef): string {
  const fields = storedFields(reader, record)
  return fields === undefined ? '' : versionOfFields(fields)
}

export function versionOfFields(fields: Fields): string {
  return Object.values(fields).map(digestOf).join('')
}

/**
 * Returns the fields that differ from a record version. All fields differ if a program with other fields computed the
 * version.
 */
export function changedSince(seen: string, fields: Fields): string[] {
  const names = Object.keys(fields)
  if (seen.length !== names.length * digestLength) return names
  return names.filter((name, at) => seen.slice(at * digestLength, (at + 1) * digestLength) !== digestOf(fields[name]))
}

/**
 * Returns the fields that an edit changes although others changed them after the edit's caller read the record.
 * @param seen version that the caller read
 * @param before current fields
 * @param after fields after the edit
 */
export function overlappingFields(seen: string, before: Fields, after: Fields): string[] {
  return changedSince(seen, before).filter((name) => canonical(before[name]) !== canonical(after[name]))
}

function digestOf(value: unknown): string {
  return hash('sha256', canonical(value), 'base64url').slice(0, digestLength)
}

/** Returns JSON with sorted object keys: equal values give equal texts. Null and undefined are equal. */
function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  )
}
