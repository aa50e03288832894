import { allSettings } from '../settings.ts'

/**
 * Editable fields of each kind of record, by their names in the inputs of procedures. Each field is merged or rejected
 * as a whole. The settings are one record; their fields are dotted paths.
 */
export const recordFields = {
  room: [
    'topic',
    'host_password',
    'max_video',
    'max_audio',
    'attendee_max',
    'room_mode',
    'entry_by_number',
    'waiting_room',
    'schedule',
    'tags',
    'rule',
  ],
  device: [
    'roomId',
    'userName',
    'userAddress',
    'userData',
    'login_name',
    'login_password',
    'assist_address',
    'old_tls',
    'tags',
    'rule',
  ],
  node: [
    'enabled',
    'port',
    'addresses',
    'idc_code',
    'weight',
    'max_rooms',
    'max_users',
    'ws_url',
    'admin_url',
    'api_secret',
    'admin_secret',
    'admin_key',
    'token_secret',
  ],
  credential: ['label', 'enabled', 'p2p'],
  account: ['name', 'role', 'enabled'],
  template: ['name', 'settings'],
  wall: ['name', 'items', 'arrangement'],
  licence: ['expires_at', 'max_rooms', 'max_users'],
  settings: allSettings.map(({ path }) => path),
} as const satisfies Record<string, readonly string[]>
export type RecordKind = keyof typeof recordFields
export type RecordField<K extends RecordKind> = (typeof recordFields)[K][number]

/** Kind and key of a record to edit. */
export interface RecordRef {
  kind: RecordKind
  /** Key of the record in its collection; `site` for the settings and the licence. */
  key: string
}

/** Fields whose values are never returned to callers. */
const secretFields: ReadonlySet<string> = new Set<string>([
  'host_password',
  'login_password',
  'api_secret',
  'admin_secret',
  'admin_key',
  'token_secret',
  ...allSettings.filter(({ control }) => control.kind === 'secret').map(({ path }) => path),
])

/** Whether the values of a field are never returned. */
export function isSecretField(field: string): boolean {
  return secretFields.has(field)
}
