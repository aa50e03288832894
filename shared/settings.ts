import { rule } from './refusals/complaints.ts'
import { z } from 'zod'
import { optionalFields } from './optional-fields.ts'
import { firstRunSchema } from './first-run.ts'
import { hiddenSecret } from './hidden-secret.ts'
import { languageChoices } from './languages.ts'
import { objectStorageSchema } from './recordings/object-storage.ts'
import { recordingSettingsSchema } from './recordings/recording-settings.ts'
import { type IceServer, operatorMediaSettingsSchema } from './media/media-settings.ts'

/** Forms of a digest, and so of its session's tokens (contract, section 2). */
export const digestForms = ['sha1-hex', 'sha1-raw', 'sha256-hex', 'sha256-raw'] as const
export type DigestForm = (typeof digestForms)[number]

const minute = 60_000
const hour = 60 * minute
const port = z.int().min(0).max(65_535)
/** A deadline in milliseconds. */
const deadline = (fallback: number) => z.int().min(50).max(60_000).default(fallback)

/** Addresses of the listeners. A flag or an environment variable of the headless entry overrides these. Port 0 picks a free one. */
const listenersSchema = z.strictObject({
  /** Loopback by default. */
  host: z.string().min(1).max(253).default('127.0.0.1'),
  /** Address of this machine that links name while the ports are open on every network; empty, or no longer its own: the first one. */
  link_address: z.union([z.literal(''), z.ipv4()], rule('network')).default(''),
  media_port: port.default(7080),
  device_port: port.default(7081),
  node_port: port.default(7082),
  console_port: port.default(7083),
  /** The desktop app serves its console to browsers, too, at `console_port`. A headless controller always does. */
  serve_console: z.boolean().default(false),
  /** Port for events of Janus nodes; null: none, and they are polled. */
  event_port: port.nullable().default(null),
})

/** PEM texts; both empty: plain HTTP. */
const tlsSchema = z.strictObject({
  mode: z.enum(['off', 'file', 'self-signed']).default('off'),
  cert_file: z.string().max(4096).default(''),
  key_file: z.string().max(4096).default(''),
})

const accessSettingsSchema = z.strictObject({
  digest_forms: z
    .array(z.enum(digestForms))
    .min(1)
    .default([...digestForms]),
  /** Lifetime of a token from its last use. */
  token_idle_ms: z
    .int()
    .min(1_000)
    .max(7 * 24 * hour)
    .default(12 * hour),
  /** Maximum lifetime of a token. */
  token_life_ms: z
    .int()
    .min(1_000)
    .max(90 * 24 * hour)
    .default(7 * 24 * hour),
  /** Maximum failed authentications a minute per client address; 0 means no limit. */
  failures_per_minute: z.int().min(0).max(10_000).default(20),
})

const roomDefaultsSchema = z.strictObject({
  attendee_max: z.int().min(1).max(10_000).default(100),
  max_video: z.int().min(0).max(10_000).default(16),
  max_audio: z.int().min(0).max(10_000).default(16),
})

/** All deadlines of the controller, in milliseconds. */
const deadlinesSchema = z.strictObject({
  /** The store: beyond it a media mutation is 700, an authentication 504 (contract, section 2). */
  store_ms: deadline(5_000),
  /** A node's answer: public clients give up after 5 s (contract, section 3: 409). */
  node_ms: deadline(4_000),
  /** A device's first media packet (contract, section 4: 427). */
  device_ms: deadline(4_000),
  /** One health poll of a node. */
  health_ms: deadline(2_000),
  /** Interval of health polls of a node. */
  health_interval_ms: deadline(2_000),
  /** Maximum wait for active requests when the controller stops. */
  shutdown_ms: deadline(5_000),
})

const deviceSettingsSchema = z.strictObject({
  /** Delays of reconnects: the first one, doubling up to the maximum (contract, section 4). */
  reconnect_first_ms: z.int().min(10).max(60_000).default(1_000),
  reconnect_longest_ms: z.int().min(10).max(3_600_000).default(30_000),
  /** Time in a room after which a dropped device starts with the first delay again; one that drops sooner continues with longer ones. */
  reconnect_steady_ms: z.int().min(0).max(3_600_000).default(30_000),
})

/** The embedded media node, and join links. All except `udp_port` apply to a running node. */
const mediaSchema = operatorMediaSettingsSchema.extend({
  /** UDP port of all WebRTC; 0: the number of the node port if it is free. A change restarts the node. */
  udp_port: port.default(0),
  /** Prefix before `/jroom/` and `/j/`, e.g. `https://rooms.example.org`; empty: the media API's own address. */
  public_url: z
    .string()
    .max(300)
    .regex(/^(https?:\/\/[^\s/?#]+(\/[^\s?#]*[^\s/?#])?)?$/, rule('webAddress'))
    .default(''),
  /** Anybody who knows a room's number may join it; a room can override this. */
  open_rooms: z.boolean().default(false),
  /** Default lifetime of a join link. */
  link_life_ms: z
    .int()
    .min(minute)
    .max(30 * 24 * hour)
    .default(24 * hour),
})

/** The event log on disk: its oldest part is deleted when either limit is reached. */
const eventSettingsSchema = z.strictObject({
  days: z.int().min(1).max(3_650).default(90),
  megabytes: z.int().min(20).max(100_000).default(200),
})

/** Automatic backups; those that the operator makes or pins stay until they are deleted. The only place of these defaults. */
export const backupSettingsSchema = z.strictObject({
  /** Maximum number of backups; the oldest are deleted. */
  count: z.int().min(1).max(100).default(5),
  /** Maximum age of a backup in days, except for the newest one; 0 means no limit. */
  days: z.int().min(0).max(3_650).default(0),
})

/** Pictures of joined cameras that are kept in the data folder. Off at first: they show places and people, and take up the disk. */
const pictureSettingsSchema = z.strictObject({
  /** Interval between two pictures of a camera, in minutes; 0: none are taken. */
  every_minutes: z.int().min(0).max(1_440).default(0),
  /** Pictures kept of each camera; the oldest are deleted. */
  per_camera: z.int().min(1).max(500).default(24),
  /** Size of all pictures, in megabytes; the oldest are deleted. */
  megabytes: z.int().min(10).max(1_000_000).default(1_000),
  /** Maximum age of a picture, in days. */
  days: z.int().min(1).max(365).default(7),
})

const trashSettingsSchema = z.strictObject({
  /** Days for which deleted things can be restored; 0: they are deleted for good at once. A change applies to later deletions. */
  days: z.int().min(0).max(90).default(7),
})

/** Answers for clients of the original platform. Off: they get the standard answers. */
const compatibilitySchema = z.strictObject({
  /** Operations, spellings and answers for those clients only. */
  older_clients: z.boolean().default(false),
  /** Only with `older_clients`: a client may send its secret_key in a URL, and gets an access token for it. */
  get_access_token: z.boolean().default(false),
})

/** Live streams by HLS and RTMP. */
const liveSchema = z.strictObject({
  /** Origins whose pages may embed the player, besides the site's own. */
  embed_origins: z
    .array(z.string().regex(/^https?:\/\/[\w.-]{1,253}(:\d{1,5})?$/, rule('webAddress')))
    .max(50)
    .default([]),
  /** IP addresses and networks (CIDR) of RTMP servers that clients may push to; empty: all but this machine, link-local addresses and metadata services of clouds. Ports of this site never. */
  push_networks: z
    .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], rule('network')))
    .max(64)
    .default([]),
  /** PEM file of authorities that the certificate of an `rtmps://` server may be signed by, besides the well-known ones; empty: none. */
  push_ca_file: z.string().max(4096).default(''),
})

/** The operator's preferences for the console. */
const consoleSettingsSchema = z.strictObject({
  language: z.enum(languageChoices).default('system'),
  theme: z.enum(['system', 'light', 'dark']).default('system'),
  /** The welcome page was dismissed. */
  welcome_done: z.boolean().default(false),
  first_run: firstRunSchema.default(firstRunSchema.parse({})),
  /** The console key signs in and calls `/rpc`. Off: only accounts and their tokens, as long as there is an enabled admin. */
  key_sign_in: z.boolean().default(true),
  /** `/metrics` requires an access token. */
  metrics_token: z.boolean().default(false),
  /** Lists of devices and rooms show a thumbnail of each camera, one a minute, stored by the browser. */
  thumbnails: z.boolean().default(true),
  /** Viewers may watch users in the rooms unseen. Off: only operators and admins; viewers may always watch cameras. */
  viewers_watch: z.boolean().default(false),
  /** Maximum number of entries of the request journal in memory. */
  activity_entries: z.int().min(100).max(100_000).default(5_000),
})

/** All settings of the operator. Every part has defaults, so `{}` is a complete document. */
export const settingsSchema = z.strictObject({
  listeners: listenersSchema.prefault({}),
  tls: tlsSchema.prefault({}),
  access: accessSettingsSchema.prefault({}),
  /** Allowed CORS origins; `*` is any. */
  cors_origins: z.array(z.string().min(1).max(300)).max(100).default(['*']),
  room_defaults: roomDefaultsSchema.prefault({}),
  deadlines: deadlinesSchema.prefault({}),
  devices: deviceSettingsSchema.prefault({}),
  media: mediaSchema.prefault({}),
  compatibility: compatibilitySchema.prefault({}),
  events: eventSettingsSchema.prefault({}),
  backups: backupSettingsSchema.prefault({}),
  pictures: pictureSettingsSchema.prefault({}),
  recording: recordingSettingsSchema.prefault({}),
  object_storage: objectStorageSchema.prefault({}),
  trash: trashSettingsSchema.prefault({}),
  live: liveSchema.prefault({}),
  console: consoleSettingsSchema.prefault({}),
})

export type Settings = z.output<typeof settingsSchema>

/** A partial document of the site file or the console: each part in it is merged into the current settings. */
export const settingsPatchSchema = z.strictObject({
  listeners: z.strictObject(optionalFields(listenersSchema)).optional(),
  tls: z.strictObject(optionalFields(tlsSchema)).optional(),
  access: z.strictObject(optionalFields(accessSettingsSchema)).optional(),
  cors_origins: z.array(z.string().min(1).max(300)).max(100).optional(),
  room_defaults: z.strictObject(optionalFields(roomDefaultsSchema)).optional(),
  deadlines: z.strictObject(optionalFields(deadlinesSchema)).optional(),
  devices: z.strictObject(optionalFields(deviceSettingsSchema)).optional(),
  media: z.strictObject(optionalFields(mediaSchema)).optional(),
  compatibility: z.strictObject(optionalFields(compatibilitySchema)).optional(),
  events: z.strictObject(optionalFields(eventSettingsSchema)).optional(),
  backups: z.strictObject(optionalFields(backupSettingsSchema)).optional(),
  pictures: z.strictObject(optionalFields(pictureSettingsSchema)).optional(),
  recording: z.strictObject(optionalFields(recordingSettingsSchema)).optional(),
  object_storage: z.strictObject(optionalFields(objectStorageSchema)).optional(),
  trash: z.strictObject(optionalFields(trashSettingsSchema)).optional(),
  live: z.strictObject(optionalFields(liveSchema)).optional(),
  console: z.strictObject(optionalFields(consoleSettingsSchema)).optional(),
})
export type SettingsPatch = z.output<typeof settingsPatchSchema>

/** The defaults of every setting. */
export function defaultSettings(): Settings {
  return settingsSchema.parse({})
}

/** Merges a patch into settings, part by part; without settings, into the defaults. */
export function mergeSettings(before: Settings | undefined, patch: SettingsPatch): Settings {
  const base = before ?? defaultSettings()
  const merged: Record<string, unknown> = { ...base }
  for (const [name, part] of Object.entries(patch)) {
    if (part === undefined) continue
    const old = merged[name]
    const isWhole = typeof old !== 'object' || old === null || Array.isArray(part)
    merged[name] = isWhole ? part : { ...old, ...part }
  }
  return settingsSchema.parse(merged)
}

/** Settings for a console: they show that a TURN server or the object storage has a secret, but not its value. */
export function hideSecrets(settings: Settings): Settings {
  const ice_servers = settings.media.ice_servers.map((server) =>
    server.credential === '' ? server : { ...server, credential: hiddenSecret },
  )
  const { secret_access_key, ...storage } = settings.object_storage
  const shown = secret_access_key === '' ? '' : hiddenSecret
  return {
    ...settings,
    media: { ...settings.media, ice_servers },
    object_storage: { ...storage, secret_access_key: shown },
  }
}

/**
 * Replaces placeholders in a patch by the stored credentials of the server with the same addresses. A server with other addresses has no credential until it is entered. The secret of the object
 * storage stays for the same key id and address.
 */
export function keepHiddenSecrets(given: SettingsPatch, before: Settings): SettingsPatch {
  const patch = keepStorageSecret(given, before)
  const servers = patch.media?.ice_servers
  if (servers === undefined) return patch
  const ice_servers = servers.map((server) =>
    server.credential === hiddenSecret
      ? { ...server, credential: sameServer(server, before)?.credential ?? '' }
      : server,
  )
  return { ...patch, media: { ...patch.media, ice_servers } }
}

function keepStorageSecret(patch: SettingsPatch, { object_storage: before }: Settings): SettingsPatch {
  const { object_storage: storage } = patch
  if (storage === undefined) return patch
  const { access_key_id = before.access_key_id, endpoint = before.endpoint, secret_access_key } = storage
  const isOther = access_key_id !== before.access_key_id || endpoint !== before.endpoint
  // The secret belongs to its key id and address: another one has none until it is entered.
  if (secret_access_key === undefined && isOther)
    return { ...patch, object_storage: { ...storage, secret_access_key: '' } }
  if (secret_access_key !== hiddenSecret) return patch
  return { ...patch, object_storage: { ...storage, secret_access_key: isOther ? '' : before.secret_access_key } }
}

function sameServer({ urls, username }: IceServer, { media }: Settings): IceServer | undefined {
  const has = (part: (server: IceServer) => boolean): IceServer | undefined => media.ice_servers.find(part)
  const sameUrls = (server: IceServer): boolean => JSON.stringify(server.urls) === JSON.stringify(urls)
  const given = hostsOf(urls)
  const sameHosts = (server: IceServer): boolean => {
    const hosts = hostsOf(server.urls)
    return server.username === username && given.every((host) => hosts.includes(host))
  }
  return has((server) => sameUrls(server) && server.username === username) ?? has(sameUrls) ?? has(sameHosts)
}

/** Hosts of STUN and TURN addresses (RFC 7064, RFC 7065), which have no `//`; another port or transport is the same server. */
function hostsOf(urls: readonly string[]): string[] {
  return urls.map((url) => /^[a-z]+:(\[[^\]]*\]|[^:?]*)/.exec(url)?.[1]?.toLowerCase() ?? url)
}

/** Migrates settings of any version: a missing or invalid field has its default. */
export function completeSettings(stored: unknown): Settings {
  const whole = settingsSchema.safeParse(stored)
  if (whole.success) return whole.data
  const given = fieldsOf(stored)
  const parts = Object.entries(settingsSchema.shape).map(([name, part]) => [name, completePart(part, given[name])])
  return settingsSchema.parse(Object.fromEntries(parts))
}

function completePart(part: z.ZodType, stored: unknown): unknown {
  const parsed = part.safeParse(stored)
  if (parsed.success) return parsed.data
  const inner = part instanceof z.ZodPrefault ? part.unwrap() : undefined
  if (!(inner instanceof z.ZodObject)) return part.parse(undefined)
  const given = fieldsOf(stored)
  const fields = Object.entries(inner.shape).map(([name, field]: [string, z.ZodType]) => {
    const value = field.safeParse(given[name])
    return [name, value.success ? value.data : field.parse(undefined)]
  })
  return Object.fromEntries(fields)
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}
