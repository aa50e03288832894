import { type RecordField, type RecordKind } from '../../../shared/domain/record-fields.ts'
import type { TextKey } from '../i18n/text.ts'

type Labels = { readonly [K in Exclude<RecordKind, 'settings'>]: Readonly<Record<RecordField<K>, TextKey>> }

/** Labels of fields, as their forms show them. */
const labels: Labels = {
  room: {
    topic: 'rooms.fields.topic',
    host_password: 'rooms.fields.host_password',
    max_video: 'rooms.fields.max_video',
    max_audio: 'rooms.fields.max_audio',
    attendee_max: 'rooms.fields.attendee_max',
    room_mode: 'rooms.fields.room_mode',
    entry_by_number: 'rooms.fields.entry_by_number',
    waiting_room: 'rooms.fields.waiting_room',
    schedule: 'schedule.title',
    tags: 'tags.title',
    rule: 'recording.rule',
  },
  device: {
    roomId: 'words.room',
    userName: 'words.name',
    userAddress: 'devices.fields.address',
    userData: 'devices.fields.userData',
    login_name: 'devices.fields.login_name',
    login_password: 'words.password',
    assist_address: 'devices.fields.assist',
    old_tls: 'devices.fields.oldTls',
    tags: 'tags.title',
    rule: 'recording.rule',
  },
  node: {
    enabled: 'nodes.fields.enabled',
    port: 'nodes.fields.port',
    addresses: 'nodes.fields.addresses',
    idc_code: 'nodes.fields.idc_code',
    weight: 'nodes.fields.weight',
    max_rooms: 'nodes.fields.max_rooms',
    max_users: 'nodes.fields.max_users',
    ws_url: 'nodes.janus.ws_url',
    admin_url: 'nodes.janus.admin_url',
    api_secret: 'nodes.janus.secrets',
    admin_secret: 'nodes.janus.secrets',
    admin_key: 'nodes.janus.secrets',
    token_secret: 'nodes.janus.secrets',
  },
  credential: { label: 'credentials.columns.label', enabled: 'words.enabled', p2p: 'credentials.columns.p2p' },
  account: { name: 'accounts.list.name', role: 'accounts.list.role', enabled: 'words.enabled' },
  template: { name: 'words.name', settings: 'edits.templateSettings' },
  wall: { name: 'wall.name', items: 'wall.tiles', arrangement: 'wall.options.title' },
  licence: {
    expires_at: 'settings.licence.expires_at',
    max_rooms: 'settings.licence.max_rooms',
    max_users: 'settings.licence.max_users',
  },
}

/** The same labels, for field names of any type. */
export const fieldLabels: Readonly<Record<keyof Labels, Readonly<Partial<Record<string, TextKey>>>>> = labels
