import { hash } from 'node:crypto'
import { type RecordField, recordFields, type RecordKind, type RecordRef } from '../../shared/domain/record-fields.ts'
import { evenArrangement } from '../../shared/domain/wall-layout.ts'
import { licenceSchema } from '../../shared/licence.ts'
import { defaultSettings } from '../../shared/settings.ts'
import type { RecordReader } from './capability-rules.ts'
import { checkedBy, type PlannedChange } from './change-cause.ts'
import type { StoredSettings } from './records.ts'
import type { CollectionName, Collections } from './store.ts'

const collections = {
  room: 'rooms',
  device: 'devices',
  node: 'nodes',
  credential: 'credentials',
  account: 'accounts',
  template: 'room_templates',
  wall: 'wall_views',
  licence: 'licence',
  settings: 'settings',
} as const satisfies Record<RecordKind, CollectionName>
type RecordOf<K extends RecordKind> = Collections[(typeof collections)[K]]

/** Values of a record's fields, by name. A secret is represented by its sealed text. */
export type Fields = Readonly<Record<string, unknown>>

/** Functions that read the fields of a record, by kind. A field that a record leaves out gets its default. */
const readers: { [K in RecordKind]: (record: RecordOf<K>) => Readonly<Record<RecordField<K>, unknown>> } = {
  room: (room) => ({
    ...room,
    host_password: room.host_password_sealed,
    entry_by_number: room.entry_by_number ?? 'inherit',
    waiting_room: room.waiting_room ?? false,
    schedule: room.schedule ?? null,
    tags: room.tags ?? [],
    rule: room.recording ?? null,
  }),
  device: ({ options, ...device }) => ({
    ...device,
    login_name: options.login_name ?? '',
    login_password: device.login_password_sealed,
    assist_address: options.assist_address ?? '',
    old_tls: options.old_tls === true,
    tags: device.tags ?? [],
    rule: device.recording ?? null,
  }),
  node: (node) => ({
    ...node,
    // The node's secrets are sealed together.
    api_secret: node.secrets_sealed,
    admin_secret: node.secrets_sealed,
    admin_key: node.secrets_sealed,
    token_secret: node.secrets_sealed,
  }),
  credential: (credential) => credential,
  account: (account) => account,
  template: (template) => template,
  wall: (view) => ({ ...view, arrangement: view.arrangement ?? evenArrangement }),
  licence: (licence) => licenceSchema.parse(licence),
  settings: settingsFields,
}

/** Returns the fields of a record, in the order of `recordFields`. */
function fieldsOf<K extends RecordKind>(kind: K, record: RecordOf<K>): Fields {
  const values: Fields = readers[kind](record)
  return Object.fromEntries(recordFields[kind].map((field) => [field, values[field]]))
}

/** Record for settings or a licence that were never stored: all fields have their defaults. */
const blank = {}

/** Returns the fields of a stored record; undefined: no such record. */
export function storedFields(reader: RecordReader, { kind, key }: RecordRef): Fields | undefined {
  const record = reader.get(collections[kind], key)
  if (record === undefined)
    return kind === 'settings' || kind === 'licence' ? fieldsOf(kind, blank as never) : undefined
  // The record belongs to the collection of its kind; the union type cannot express that.
  return fieldsOf(kind, record as never)
}

const defaults: Fields = defaultSettings()

/** Returns the settings by path. A setting that an earlier version did not store gets its default. */
function settingsFields(settings: StoredSettings): Fields {
  const { object_storage: { secret_sealed, ...storage } = { secret_sealed: '' } } = settings
  const parts: Fields = { ...settings, object_storage: { ...storage, secret_access_key: secret_sealed } }
  return Object.fromEntries(
    recordFields.settings.map((path) => {
      const [part = '', field] = path.split('.')
      const value = parts[part]
      const [stored, standard] = [value, defaults[part]].map((one) =>
        field === undefined ? one : (one as Fields | undefined)?.[field],
      )
      return [path, stored === undefined ? standard : stored]
    }),
  )
}

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

/**
 * Thrown if an edit would change fields that were changed after the edit's caller read the record. No change of the
 * edit is stored.
 */
export class OverlappingEdit extends Error {
  readonly record: RecordRef
  readonly fields: readonly string[]
  readonly current: Fields
  constructor(record: RecordRef, fields: readonly string[], current: Fields) {
    super(`changed meanwhile: ${fields.join(', ')}`)
    this.name = 'OverlappingEdit'
    this.record = record
    this.fields = fields
    this.current = current
  }

  get version(): string {
    return versionOfFields(this.current)
  }
}

/**
 * Runs an edit, and compares each of its transactions with the current record. Fields changed only by other edits keep
 * their new values. An edit that would change one of these fields is rejected.
 * @param seen version that the caller read
 * @throws OverlappingEdit, and the errors of the edit
 */
export async function mergedEdit<T>(record: RecordRef, seen: string, run: () => T | Promise<T>): Promise<T> {
  let isRunning = true
  const check = ({ before, after }: PlannedChange): void => {
    // Work that continues after the call is not part of the edit.
    const [now, then] = isRunning ? [storedFields(before, record), storedFields(after, record)] : []
    // A deleted record is not merged: the edit itself reports the deletion.
    if (now === undefined || then === undefined) return
    const fields = overlappingFields(seen, now, then)
    if (fields.length > 0) throw new OverlappingEdit(record, fields, now)
  }
  try {
    return await checkedBy(check, run)
  } finally {
    isRunning = false
  }
}
