import {
  type RecordField,
  type RecordKind,
  recordFields,
  type RecordRef,
} from '../../../shared/domain/record-fields.ts'
import { evenArrangement } from '../../../shared/domain/wall-layout.ts'
import { licenceSchema } from '../../../shared/licence.ts'
import { defaultSettings } from '../../../shared/settings.ts'
import type { RecordReader } from '../capability-rules.ts'
import type { StoredSettings } from '../records.ts'
import type { CollectionName, Collections } from '../store.ts'

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
export type RecordOf<K extends RecordKind> = Collections[(typeof collections)[K]]

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
export function fieldsOf<K extends RecordKind>(kind: K, record: RecordOf<K>): Fields {
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
