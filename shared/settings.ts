import { z } from 'zod'
import { hiddenSecret } from './hidden-secret.ts'
import { consoleSettings } from './settings/console.ts'
import { backups, eventSettings, pictures, trash } from './settings/data.ts'
import { type IceServer, media } from './settings/media.ts'
import { access, compatibility, corsOrigins, listeners, tls } from './settings/network.ts'
import { live, objectStorage, recording } from './settings/recording.ts'
import { deadlines, devices, roomDefaults } from './settings/rooms.ts'
import {
  partPatchSchema,
  type PartPatchShape,
  partSchema,
  type PartShape,
  type Setting,
  type SettingCard,
  type SettingPart,
} from './settings/setting.ts'

/** Declarations of all settings, in the order of the stored document. */
const declarations = {
  listeners,
  tls,
  access,
  cors_origins: corsOrigins,
  room_defaults: roomDefaults,
  deadlines,
  devices,
  media,
  compatibility,
  events: eventSettings,
  backups,
  pictures,
  recording,
  object_storage: objectStorage,
  trash,
  live,
  console: consoleSettings,
} as const satisfies Record<string, Setting | SettingPart>
type Declarations = typeof declarations

type SettingsShape = {
  -readonly [P in keyof Declarations]: Declarations[P] extends Setting
    ? z.ZodDefault<Declarations[P]['schema']>
    : Declarations[P] extends SettingPart
      ? z.ZodPrefault<z.ZodObject<PartShape<Declarations[P]>, z.core.$strict>>
      : never
}
type PatchShape = {
  -readonly [P in keyof Declarations]: z.ZodOptional<
    Declarations[P] extends Setting
      ? Declarations[P]['schema']
      : Declarations[P] extends SettingPart
        ? z.ZodObject<PartPatchShape<Declarations[P]>, z.core.$strict>
        : never
  >
}

function isSetting(declaration: Setting | SettingPart): declaration is Setting {
  return 'schema' in declaration
}

function shapeOf(schemaOf: (declaration: Setting | SettingPart) => z.ZodType): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(declarations).map(([name, each]) => [name, schemaOf(each)]))
}

/** Schema of all settings. Every part has defaults, so `{}` is a complete document. */
export const settingsSchema = z.strictObject(
  // Object.fromEntries loses the types by key; the type assertion restores them. The same applies to the patch.
  shapeOf((each) =>
    isSetting(each) ? each.schema.default(each.default) : partSchema(each).prefault({}),
  ) as SettingsShape,
)
export type Settings = z.output<typeof settingsSchema>

/**
 * Schema of a partial document from the site file or the console. Each part in it is merged into the current settings.
 */
export const settingsPatchSchema = z.strictObject(
  shapeOf((each) => (isSetting(each) ? each.schema : partPatchSchema(each)).optional()) as PatchShape,
)
export type SettingsPatch = z.output<typeof settingsPatchSchema>

/** Dotted path of a setting, e.g. `recording.viewers`. A list or an object within a part counts as one setting. */
export type SettingPath = {
  [P in keyof Declarations]: Declarations[P] extends Setting ? P : `${P}.${keyof Declarations[P] & string}`
}[keyof Declarations]

/** Text of a setting on the settings page. An empty hint is not displayed. */
interface SettingText {
  readonly label: string
  readonly hint: string
}

/** Texts of all settings that have a card, in the structure of the settings. */
export type SettingTexts = {
  readonly [P in keyof Declarations]: Declarations[P] extends Setting
    ? SettingText
    : { readonly [F in keyof Declarations[P] as Declarations[P][F] extends { card: 'none' } ? never : F]: SettingText }
}

/** Possible values of the settings that offer a choice. */
export type SettingChoice = {
  [P in keyof Declarations]: Declarations[P] extends Setting
    ? never
    : { [F in keyof Declarations[P]]: ChoiceOf<Declarations[P][F]> }[keyof Declarations[P]]
}[keyof Declarations]
type ChoiceOf<S> = S extends
  | Setting<z.ZodEnum<infer E>, SettingCard>
  | Setting<z.ZodArray<z.ZodEnum<infer E>>, SettingCard>
  ? keyof E & string
  : never

export type DeclaredSetting = Setting & { readonly path: SettingPath }

/** Every setting, in the order of the stored document. */
export const allSettings: readonly DeclaredSetting[] = Object.entries(declarations).flatMap(
  ([part, declaration]: [string, Setting | SettingPart]) =>
    // The paths consist of keys of the declarations.
    isSetting(declaration)
      ? [{ ...declaration, path: part as SettingPath }]
      : Object.entries(declaration).map(([name, setting]) => ({ ...setting, path: `${part}.${name}` as SettingPath })),
)
const settingsByPath: ReadonlyMap<string, DeclaredSetting> = new Map(allSettings.map((each) => [each.path, each]))

/** Returns the declaration of a setting; undefined: the path does not refer to a setting. */
export function settingAt(path: string): DeclaredSetting | undefined {
  return settingsByPath.get(path)
}

/** Returns the settings of a card, in the order of their positions. */
export function settingsOfCard(card: SettingCard): readonly DeclaredSetting[] {
  return allSettings.filter((each) => each.card === card).sort((one, other) => one.order - other.order)
}

/** Returns the default of every setting. */
export function defaultSettings(): Settings {
  return settingsSchema.parse({})
}

/** Returns settings with a patch merged into them, part by part. @param before undefined: the defaults */
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

/**
 * Returns the settings for the console: a placeholder replaces each secret of a TURN server and of the object storage.
 */
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
 * Replaces placeholders in a patch by stored secrets. A TURN server keeps its credential only if its addresses refer to
 * the same server; otherwise the credential is empty. The secret of the object storage is kept only for the same key id
 * and address.
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
  // The secret belongs to one key id and endpoint. If either changes, the secret must be entered again.
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

/**
 * Returns the hosts of STUN and TURN URLs (RFC 7064, RFC 7065), which contain no `//`. URLs with a different port or
 * transport belong to the same server.
 */
function hostsOf(urls: readonly string[]): string[] {
  return urls.map((url) => /^[a-z]+:(\[[^\]]*\]|[^:?]*)/.exec(url)?.[1]?.toLowerCase() ?? url)
}

/**
 * Whether a patch changes a setting that requires a recently entered password. An unchanged value and a placeholder
 * that is sent back do not count as changes.
 */
export function needsPerson(given: SettingsPatch, settings: Settings): boolean {
  const patch = keepHiddenSecrets(given, settings)
  return allSettings.some(({ path, access: callers }) => {
    const value = valueAt(patch, path)
    return (
      callers === 'person' && value !== undefined && JSON.stringify(value) !== JSON.stringify(valueAt(settings, path))
    )
  })
}

/** Returns the value at a dotted path; undefined: none. */
export function valueAt(document: unknown, path: string): unknown {
  let value = document
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Reflect.get(value, name)
  }
  return value
}

/** Returns complete settings from a stored document of any version: missing or invalid fields get their defaults. */
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
