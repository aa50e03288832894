import { z } from 'zod'
import { type Language, languageChoices } from '../../../../shared/languages.ts'
import { defaultSettings, digestForms, settingsSchema } from '../../../../shared/settings.ts'
import type { IceServer } from '../../../../shared/media/media-settings.ts'
import type { settings } from '../../i18n/en/settings.ts'

/** Value of a settings control. Invalid numbers stay text. */
export type FieldValue = string | number | boolean | readonly string[] | readonly IceServer[]

export type UnitKey = keyof typeof settings.units
/** A unit and its factor to the setting's own unit. */
export type Unit = readonly [UnitKey, number]

const times: readonly Unit[] = [
  ['ms', 1],
  ['s', 1_000],
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]
const rates: readonly Unit[] = [
  ['kbit', 1_000],
  ['mbit', 1_000_000],
]

/** Editor of one setting. `path` is its dotted path in the settings, and in the texts. */
export type SettingField = { path: string } & (
  | { kind: 'text'; mono?: boolean }
  | { kind: 'secret' }
  | { kind: 'number' }
  | { kind: 'quantity'; units: readonly Unit[] }
  | { kind: 'switch' }
  | { kind: 'choice'; options: readonly (ChoiceKey | Language)[] }
  | { kind: 'several'; options: readonly ChoiceKey[] }
  | { kind: 'lines' }
  | { kind: 'ice' }
)
type ChoiceKey = keyof typeof settings.choices

const time = (path: string): SettingField => ({ path, kind: 'quantity', units: times })
const rate = (path: string): SettingField => ({ path, kind: 'quantity', units: rates })
const number = (path: string): SettingField => ({ path, kind: 'number' })

export const cardFields = {
  tls: [{ path: 'tls.mode', kind: 'choice', options: ['off', 'self-signed', 'file'] }],
  tlsFiles: [
    { path: 'tls.cert_file', kind: 'text', mono: true },
    { path: 'tls.key_file', kind: 'text', mono: true },
  ],
  servedConsole: [{ path: 'listeners.serve_console', kind: 'switch' }],
  access: [
    { path: 'access.digest_forms', kind: 'several', options: digestForms },
    time('access.token_idle_ms'),
    time('access.token_life_ms'),
    number('access.failures_per_minute'),
  ],
  olderClients: [
    { path: 'compatibility.older_clients', kind: 'switch' },
    { path: 'compatibility.get_access_token', kind: 'switch' },
  ],
  cors: [{ path: 'cors_origins', kind: 'lines' }],
  links: [
    { path: 'media.public_url', kind: 'text', mono: true },
    time('media.link_life_ms'),
    { path: 'media.open_rooms', kind: 'switch' },
  ],
  transport: [
    number('media.udp_port'),
    { path: 'media.advertised', kind: 'lines' },
    { path: 'media.ice_servers', kind: 'ice' },
  ],
  cameras: [
    { path: 'media.camera_transport', kind: 'choice', options: ['auto', 'udp'] },
    { path: 'media.camera_networks', kind: 'lines' },
    { path: 'media.trust_any_certificate', kind: 'switch' },
    time('media.camera_answer_ms'),
    time('media.camera_stall_ms'),
    number('media.transcoders'),
  ],
  people: [
    number('media.most_tiles'),
    rate('media.publish_bitrate'),
    rate('media.screen_bitrate'),
    time('media.ban_ms'),
    time('media.resume_ms'),
  ],
  rooms: [number('room_defaults.attendee_max'), number('room_defaults.max_video'), number('room_defaults.max_audio')],
  devices: [
    time('devices.reconnect_first_ms'),
    time('devices.reconnect_longest_ms'),
    time('devices.reconnect_steady_ms'),
  ],
  deadlines: [
    time('deadlines.store_ms'),
    time('deadlines.node_ms'),
    time('deadlines.device_ms'),
    time('deadlines.health_ms'),
    time('deadlines.health_interval_ms'),
    time('deadlines.shutdown_ms'),
  ],
  look: [
    { path: 'console.language', kind: 'choice', options: languageChoices },
    { path: 'console.theme', kind: 'choice', options: ['system', 'light', 'dark'] },
    { path: 'console.thumbnails', kind: 'switch' },
    { path: 'console.viewers_watch', kind: 'switch' },
  ],
  metrics: [{ path: 'console.metrics_token', kind: 'switch' }],
  journal: [number('console.activity_entries')],
  events: [number('events.days'), number('events.megabytes')],
  backups: [number('backups.count'), number('backups.days')],
  pictures: [
    number('pictures.every_minutes'),
    number('pictures.per_camera'),
    number('pictures.megabytes'),
    number('pictures.days'),
  ],
  recording: [number('recording.gigabytes'), number('recording.free_gigabytes'), number('recording.free_percent')],
  objectStorage: [
    { path: 'object_storage.enabled', kind: 'switch' },
    { path: 'object_storage.endpoint', kind: 'text', mono: true },
    { path: 'object_storage.bucket', kind: 'text', mono: true },
    { path: 'object_storage.prefix', kind: 'text', mono: true },
    { path: 'object_storage.region', kind: 'text', mono: true },
    { path: 'object_storage.access_key_id', kind: 'text', mono: true },
    { path: 'object_storage.secret_access_key', kind: 'secret' },
    { path: 'object_storage.path_style', kind: 'switch' },
    { path: 'object_storage.ca_file', kind: 'text', mono: true },
    { path: 'object_storage.networks', kind: 'lines' },
    number('object_storage.keep_local_hours'),
  ],
  recordingAccess: [
    { path: 'recording.viewers', kind: 'choice', options: ['nothing', 'cameras', 'all'] },
    { path: 'recording.hosts', kind: 'switch' },
    { path: 'recording.announce', kind: 'switch' },
  ],
  live: [
    { path: 'live.embed_origins', kind: 'lines' },
    { path: 'live.push_networks', kind: 'lines' },
    { path: 'live.push_ca_file', kind: 'text', mono: true },
  ],
  trash: [number('trash.days')],
} as const satisfies Record<string, readonly SettingField[]>

/** Reads a value by its dotted path; undefined: none. */
export function valueAt(document: unknown, path: string): unknown {
  let value = document
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Reflect.get(value, name)
  }
  return value
}

/** Converts a value of the settings for its control. */
export function fieldValue(document: unknown, path: string): FieldValue {
  const value = valueAt(document, path)
  // The schema has parsed the settings: a field has one of these types.
  return JSON.parse(JSON.stringify(value ?? '')) as FieldValue
}

/** The default of a setting. */
export function defaultOf(path: string): FieldValue {
  return fieldValue(defaultSettings(), path)
}

let described: unknown

/** JSON Schemas of the controller at a path: one, or several alternatives. */
function takenAt(path: string): readonly unknown[] {
  described ??= z.toJSONSchema(settingsSchema, { io: 'input', unrepresentable: 'any' })
  const place = path
    .split('.')
    .map((name) => `properties.${name}`)
    .join('.')
  const found = valueAt(described, place)
  const several: unknown = valueAt(found, 'anyOf')
  return Array.isArray(several) ? several : [found]
}

/** Range of a number. */
export function boundsOf(path: string): { least: number; most: number } | undefined {
  for (const taken of takenAt(path)) {
    const least = valueAt(taken, 'minimum')
    const most = valueAt(taken, 'maximum')
    if (typeof least === 'number' && typeof most === 'number') return { least, most }
  }
  return undefined
}

/** Tells whether a setting may be null, which its control shows as an empty field. */
function mayBeNothing(path: string): boolean {
  return takenAt(path).some((taken) => valueAt(taken, 'type') === 'null')
}

/** Makes a patch of the settings from values by path. Trims lines and drops empty ones. */
export function patchOf(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const patch: Record<string, unknown> = {}
  for (const [path, value] of Object.entries(values)) {
    const [part = '', name] = path.split('.')
    const trimmed = typeof value === 'string' ? value.trim() : value
    const clean = trimmed === '' && mayBeNothing(path) ? null : trimmed
    if (name === undefined) patch[part] = clean
    else patch[part] = { ...(typeof patch[part] === 'object' ? patch[part] : {}), [name]: clean }
  }
  return patch
}

/** Finds the largest unit in which a quantity is a whole number. */
export function unitFor(value: number, units: readonly Unit[]): Unit {
  const fitting = units.filter(([, factor]) => value !== 0 && value % factor === 0)
  return fitting.at(-1) ?? units[0] ?? ['ms', 1]
}
