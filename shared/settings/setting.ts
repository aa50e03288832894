import { z } from 'zod'

/** Cards of the settings page in order, each with its tab. */
export const settingCards = {
  listeners: 'network',
  servedConsole: 'network',
  tls: 'network',
  access: 'access',
  cors: 'access',
  olderClients: 'access',
  links: 'media',
  transport: 'media',
  cameras: 'media',
  people: 'media',
  rooms: 'rooms',
  devices: 'rooms',
  recordingRules: 'recording',
  objectStorage: 'recording',
  recording: 'recording',
  recordingAccess: 'recording',
  live: 'recording',
  deadlines: 'deadlines',
  look: 'console',
  journal: 'console',
  metrics: 'accounts',
  backups: 'data',
  pictures: 'data',
  trash: 'data',
  events: 'data',
} as const
export type SettingCard = keyof typeof settingCards

/** Unit of a number. `port`: the number is an identifier, displayed without separators. */
type Unit = 'ms' | 'bit/s' | 'MB' | 'GB' | 'minutes' | 'hours' | 'days' | '%' | 'count' | 'port'

/**
 * Control of a setting on the settings page. `none`: no control, or a separate component. `secret`: responses and
 * events never contain the value.
 */
export type Control =
  | { kind: 'switch' | 'text' | 'secret' | 'lines' | 'iceServers' | 'none' }
  | { kind: 'choice' | 'several'; choices: readonly string[] }
  | { kind: 'number'; unit: Unit; range: readonly [min: number, max: number] }

interface Traits<C extends SettingCard | 'none'> {
  /** Card of the settings page; `none`: the setting has no label and no hint. */
  card: C
  /** Position on the card; 0: the setting has no card. */
  order: C extends 'none' ? 0 : number
  /**
   * Callers who may change the setting. `person`: see `person` of ProcedureAccess; tokens are rejected. `open`: also a
   * signed-in admin, and a token with `site:write`.
   * `open` is only for settings that do not redirect people, media or data, grant no access, disclose nothing, delete
   * nothing earlier, open no port and contain no file name.
   */
  access: 'open' | 'person'
  /**
   * Part that a change restarts: the listeners, or the embedded node at the node port. `nothing`: the change takes
   * effect at once.
   */
  restarts: 'nothing' | 'listeners' | 'node'
}

/** Declaration of a setting. Schema, default, control and access are all derived from it. */
export interface Setting<S extends z.ZodType = z.ZodType, C extends SettingCard | 'none' = SettingCard | 'none'>
  extends Traits<C> {
  schema: S
  default: z.input<S>
  control: Control
}

/** Settings of one part of the document. */
export type SettingPart = Readonly<Record<string, Setting>>

type Card = SettingCard | 'none'
interface NumberOptions {
  range: readonly [min: number, max: number]
  unit: Unit
  default: number
}
interface SchemaOptions<S extends z.ZodType> {
  schema: S
  default: z.input<S>
}

/** Declares a whole number. */
export function integer<C extends Card>(options: NumberOptions, traits: Traits<C>): Setting<z.ZodInt, C> {
  const [min, max] = options.range
  return number(z.int().min(min).max(max), options, traits)
}

/** Declares a number that may have a fraction. */
export function decimal<C extends Card>(options: NumberOptions, traits: Traits<C>): Setting<z.ZodNumber, C> {
  const [min, max] = options.range
  return number(z.number().min(min).max(max), options, traits)
}

/** Declares a whole number that may be null, which is displayed as an empty control. */
export function optionalInteger<C extends Card>(
  { range, unit }: Omit<NumberOptions, 'default'>,
  traits: Traits<C>,
): Setting<z.ZodNullable<z.ZodInt>, C> {
  const [min, max] = range
  return {
    schema: z.int().min(min).max(max).nullable(),
    default: null,
    control: { kind: 'number', unit, range },
    ...traits,
  }
}

function number<S extends z.ZodNumber, C extends Card>(
  schema: S,
  { default: fallback, unit, range }: NumberOptions,
  traits: Traits<C>,
): Setting<S, C> {
  return { schema, default: fallback as z.input<S>, control: { kind: 'number', unit, range }, ...traits }
}

/** Declares a setting that is on or off. */
export function toggle<C extends Card>(options: { default: boolean }, traits: Traits<C>): Setting<z.ZodBoolean, C> {
  return { schema: z.boolean(), ...options, control: { kind: 'switch' }, ...traits }
}

/** Declares a choice of one of several values. */
export function choice<const V extends string, C extends Card>(
  { choices, default: fallback }: { choices: readonly V[]; default: NoInfer<V> },
  traits: Traits<C>,
): Setting<z.ZodEnum<{ [K in V]: K }>, C> {
  return { schema: z.enum(choices), default: fallback, control: { kind: 'choice', choices }, ...traits }
}

/** Declares a choice of one or more of several values; default: all. */
export function several<const V extends string, C extends Card>(
  { choices }: { choices: readonly V[] },
  traits: Traits<C>,
): Setting<z.ZodArray<z.ZodEnum<{ [K in V]: K }>>, C> {
  const schema = z.array(z.enum(choices)).min(1)
  return { schema, default: [...choices], control: { kind: 'several', choices }, ...traits }
}

/** Declares a text, e.g. an address, a name or the path of a file. */
export function text<S extends z.ZodType<string, string>, C extends Card>(
  options: SchemaOptions<S>,
  traits: Traits<C>,
): Setting<S, C> {
  return { ...options, control: { kind: 'text' }, ...traits }
}

/** Declares a text that responses and events never contain. `server/store/site-settings.ts` stores it sealed. */
export function secret<S extends z.ZodType<string, string>, C extends Card>(
  options: SchemaOptions<S>,
  traits: Traits<C>,
): Setting<S, C> {
  return { ...options, control: { kind: 'secret' }, ...traits }
}

/** Declares a list of texts, displayed as one per line. */
export function lines<S extends z.ZodType<string[], string[]>, C extends Card>(
  options: SchemaOptions<S>,
  traits: Traits<C>,
): Setting<S, C> {
  return { ...options, control: { kind: 'lines' }, ...traits }
}

/** Declares a list or an object as one setting with its own control. */
export function structure<S extends z.ZodType, C extends Card>(
  options: SchemaOptions<S> & { control: 'iceServers' | 'none' },
  traits: Traits<C>,
): Setting<S, C> {
  return { ...options, control: { kind: options.control }, ...traits }
}

export type PartShape<P extends SettingPart> = { -readonly [F in keyof P]: z.ZodDefault<P[F]['schema']> }
export type PartPatchShape<P extends SettingPart> = { -readonly [F in keyof P]: z.ZodOptional<P[F]['schema']> }

/** Returns the schema of a part; missing settings get their defaults. */
export function partSchema<P extends SettingPart>(part: P): z.ZodObject<PartShape<P>, z.core.$strict> {
  const fields = Object.entries(part).map(([name, setting]) => [name, setting.schema.default(setting.default)])
  // Object.fromEntries loses the types by key; the return type above contains them.
  return z.strictObject(Object.fromEntries(fields) as PartShape<P>)
}

/** Returns the schema of changes to a part; missing settings stay unchanged. */
export function partPatchSchema<P extends SettingPart>(part: P): z.ZodObject<PartPatchShape<P>, z.core.$strict> {
  const fields = Object.entries(part).map(([name, { schema }]) => [name, schema.optional()])
  // The type assertion restores the types, as in `partSchema`.
  return z.strictObject(Object.fromEntries(fields) as PartPatchShape<P>)
}
