import { z } from 'zod'
import { hiddenSecret } from './hidden-secret.ts'
import { type IceServer, operatorMediaSettingsSchema } from './media/media-settings.ts'

/** The forms of a digest, and so of the tokens of its session (contract, section 2). */
export const digestForms = ['sha1-hex', 'sha1-raw', 'sha256-hex', 'sha256-raw'] as const
export type DigestForm = (typeof digestForms)[number]

const minute = 60_000
const hour = 60 * minute
const port = z.int().min(0).max(65_535)
/** A deadline in milliseconds. */
const deadline = (fallback: number) => z.int().min(50).max(60_000).default(fallback)

/** Addresses of the listeners. A flag or an environment variable of the headless entry comes before these. Port 0 picks a free one. */
const listenersSchema = z.strictObject({
  /** Loopback unless told otherwise. */
  host: z.string().min(1).max(253).default('127.0.0.1'),
  media_port: port.default(7080),
  device_port: port.default(7081),
  node_port: port.default(7082),
  console_port: port.default(7083),
  /** Port to which Janus nodes send their events; null: there is none, and they are polled. */
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
  /** A token lives this long from its last use. */
  token_idle_ms: z
    .int()
    .min(1_000)
    .max(7 * 24 * hour)
    .default(12 * hour),
  /** A token lives this long at most. */
  token_life_ms: z
    .int()
    .min(1_000)
    .max(90 * 24 * hour)
    .default(7 * 24 * hour),
  /** Failed authentications a minute per client address; 0 is no limit. */
  failures_per_minute: z.int().min(0).max(10_000).default(20),
})

const roomDefaultsSchema = z.strictObject({
  attendee_max: z.int().min(1).max(10_000).default(100),
  max_video: z.int().min(0).max(10_000).default(16),
  max_audio: z.int().min(0).max(10_000).default(16),
})

/** Every deadline of the controller, in milliseconds, in one place. */
const deadlinesSchema = z.strictObject({
  /** The store: past it a media mutation is 700, an authentication 504 (contract, section 2). */
  store_ms: deadline(5_000),
  /** A node's answer: public clients give up after 5 s (contract, section 3: 409). */
  node_ms: deadline(4_000),
  /** A device's first media packet (contract, section 4: 427). */
  device_ms: deadline(4_000),
  /** One health poll of a node. */
  health_ms: deadline(2_000),
  /** Between two health polls of a node. */
  health_interval_ms: deadline(2_000),
  /** Wait for requests in flight when the controller stops. */
  shutdown_ms: deadline(5_000),
})

const deviceSettingsSchema = z.strictObject({
  /** The reconnect ladder: the first wait, doubling up to the longest (contract, section 4). */
  reconnect_first_ms: z.int().min(10).max(60_000).default(1_000),
  reconnect_longest_ms: z.int().min(10).max(3_600_000).default(30_000),
  /** A device that was joined for so long begins the ladder anew when it drops; one that drops sooner climbs on. */
  reconnect_steady_ms: z.int().min(0).max(3_600_000).default(30_000),
})

/** The embedded media node, and the links with which people join. Everything but `udp_port` applies to a running node. */
const mediaSchema = operatorMediaSettingsSchema.extend({
  /** WebRTC of everybody; 0: the same number as the node port where it is free. A change restarts the node. */
  udp_port: port.default(0),
  /** Prefix before `/jroom/`, e.g. `https://rooms.example.org`; empty: the media API's own address. */
  public_url: z
    .string()
    .max(300)
    .regex(/^(https?:\/\/[^\s/?#]+(\/[^\s?#]*[^\s/?#])?)?$/, 'must be an http or https URL without a slash at its end')
    .default(''),
  /** Anybody who knows the number of a room may join it; a room can say otherwise. */
  open_rooms: z.boolean().default(false),
  /** A join link is good for this long unless its maker says otherwise. */
  link_life_ms: z
    .int()
    .min(minute)
    .max(30 * 24 * hour)
    .default(24 * hour),
})

/** The event log on disk: its oldest part goes when either bound is reached. */
const eventSettingsSchema = z.strictObject({
  days: z.int().min(1).max(3_650).default(90),
  megabytes: z.int().min(20).max(100_000).default(200),
})

/** Backups that are made automatically; those that the operator makes or keeps stay until they are deleted. The only place of these defaults. */
export const backupSettingsSchema = z.strictObject({
  /** Backups that are kept; the oldest are deleted. */
  count: z.int().min(1).max(100).default(5),
  /** Days that a backup is kept, except for the newest one; 0 is no limit. */
  days: z.int().min(0).max(3_650).default(0),
})

/** Answers for clients that were written for the original platform. Off: they get the same answers as everybody. */
const compatibilitySchema = z.strictObject({
  /** Operations, spellings and answers that only those clients know. */
  older_clients: z.boolean().default(false),
  /** Only with `older_clients`: a client may send its secret_key in a URL, and gets an access token for it. */
  get_access_token: z.boolean().default(false),
})

/** The operator's preferences for the console. */
const consoleSettingsSchema = z.strictObject({
  language: z.enum(['system', 'en', 'zh']).default('system'),
  theme: z.enum(['system', 'light', 'dark']).default('system'),
  /** The welcome page was seen and dismissed. */
  welcome_done: z.boolean().default(false),
  /** The console key signs in and calls `/rpc`. Off: accounts and their tokens only, for as long as an enabled admin exists. */
  key_sign_in: z.boolean().default(true),
  /** `/metrics` asks for an access token. */
  metrics_token: z.boolean().default(false),
  /** Lists of devices and rooms show a small picture of each camera, one a minute, kept by the browser that shows it. */
  thumbnails: z.boolean().default(true),
  /** Viewers may watch people in the rooms, who do not see it. Off: operators and admins only; cameras are open to viewers always. */
  viewers_watch: z.boolean().default(false),
  /** Entries the request journal keeps in memory. */
  activity_entries: z.int().min(100).max(100_000).default(5_000),
})

/** Everything an operator can set. Every part has defaults, so `{}` is a whole document. */
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
  console: consoleSettingsSchema.prefault({}),
})

export type Settings = z.output<typeof settingsSchema>

/** A partial document, as the site file and the console send it: each part that is named is merged over what is there. */
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
  console: z.strictObject(optionalFields(consoleSettingsSchema)).optional(),
})
export type SettingsPatch = z.output<typeof settingsPatchSchema>

/** The defaults of every setting. */
export function defaultSettings(): Settings {
  return settingsSchema.parse({})
}

/** Settings with a patch merged over them, part by part; without settings, over the defaults. */
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

/** Settings as a console may see them: that a TURN server has a credential is shown, not which. */
export function hideSecrets(settings: Settings): Settings {
  const ice_servers = settings.media.ice_servers.map((server) =>
    server.credential === '' ? server : { ...server, credential: hiddenSecret },
  )
  return { ...settings, media: { ...settings.media, ice_servers } }
}

/**
 * A patch with the credentials that it only says are there: those of the same server before, which is the one with its addresses and user, or else one that shares its addresses or
 * its user. A server that is not known by either has none.
 */
export function keepHiddenSecrets(patch: SettingsPatch, before: Settings): SettingsPatch {
  const servers = patch.media?.ice_servers
  if (servers === undefined) return patch
  const ice_servers = servers.map((server) =>
    server.credential === hiddenSecret
      ? { ...server, credential: sameServer(server, before)?.credential ?? '' }
      : server,
  )
  return { ...patch, media: { ...patch.media, ice_servers } }
}

function sameServer({ urls, username }: IceServer, { media }: Settings): IceServer | undefined {
  const has = (part: (server: IceServer) => boolean): IceServer | undefined => media.ice_servers.find(part)
  const sameUrls = (server: IceServer): boolean => JSON.stringify(server.urls) === JSON.stringify(urls)
  const sameUser = (server: IceServer): boolean => username !== '' && server.username === username
  return has((server) => sameUrls(server) && server.username === username) ?? has(sameUrls) ?? has(sameUser)
}

/** Settings of any version as they are now: a field that is missing, or that this version does not take, has its default. */
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

type WithoutDefault<T> = T extends z.ZodDefault<infer Inner extends z.ZodType> ? Inner : T

/** The fields of an object schema, each optional and without its default, so that a patch changes only what it names. */
function optionalFields<S extends z.ZodRawShape>(
  schema: z.ZodObject<S>,
): { [K in keyof S]: z.ZodOptional<WithoutDefault<S[K]> & z.ZodType> } {
  const fields = Object.entries(schema.shape).map(([name, field]) => [
    name,
    z.optional(field instanceof z.ZodDefault ? field.unwrap() : field),
  ])
  // Object.fromEntries forgets which key holds what; the mapping above is the type's own.
  return Object.fromEntries(fields) as { [K in keyof S]: z.ZodOptional<WithoutDefault<S[K]> & z.ZodType> }
}
