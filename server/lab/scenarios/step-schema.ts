import { z } from 'zod'
import { isProcedureName, type ProcedureName, procedures } from '../../../shared/console/contract.ts'
import type { OperationContract } from '../../../shared/operation.ts'
import { operationsByName } from '../../../shared/operations.ts'

const factors = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const
const maxMs = 24 * factors.h

/** Reads a duration such as `10s`, `1.5m` or `200ms` as milliseconds, at most a day. */
const duration = z
  .string()
  .regex(/^\d{1,7}(\.\d{1,3})?(ms|s|m|h)$/, 'must be a duration such as 10s, 1.5m or 200ms')
  .transform(durationMs)
  .pipe(z.number().max(maxMs, 'must be at most 24h'))

function durationMs(text: string): number {
  const unit = text.endsWith('ms') ? 'ms' : (text.at(-1) as 's' | 'm' | 'h')
  return Math.round(Number.parseFloat(text) * factors[unit])
}

/** Returns milliseconds as `40 ms`, `12.5 s`, `2 min 5 s` or `8 h 30 min`, without parts that are 0. */
export function shownDuration(milliseconds: number): string {
  if (milliseconds < 100) return `${Math.round(milliseconds)} ms`
  if (milliseconds < factors.m) return `${Number((milliseconds / factors.s).toFixed(1))} s`
  const seconds = Math.round(milliseconds / factors.s)
  const parts = [
    [Math.floor(seconds / 3_600), 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const
  return parts.flatMap(([number, unit]) => (number === 0 ? [] : [`${number} ${unit}`])).join(' ')
}

const line = z.string().min(1).max(1_000)
/** A text for people: in one language, or in those of the console. */
export const worded = z.union([line, z.strictObject({ en: line, zh: line.optional(), de: line.optional() })])
export type Worded = z.output<typeof worded>

const name = /^[a-z][a-z0-9_]{0,39}$/
export const valueName = z.string().regex(name, 'must be a name of lower-case letters, digits and _')
/** Names of values that later steps use, with their paths in the answer, such as `items.0.url`. */
const keep = z.record(valueName, z.string().min(1).max(200)).default({})

export function operationNamed(operation: string): OperationContract {
  const found = operationsByName.get(operation)
  if (found === undefined) throw new TypeError(`There is no operation ${operation}.`)
  return found
}

const procedure = z.string().superRefine((given, context) => {
  const reason = forbiddenIn(given)
  if (reason !== undefined) context.addIssue({ code: 'custom', message: reason })
})

const reading = procedure.refine(
  (given) => forbiddenIn(given) !== undefined || procedures[given as keyof typeof procedures].effect === 'read',
  'must be a procedure that changes nothing',
)

const common = {
  /** Scenario time of the step. */
  at: duration.optional(),
  /** Instead of `at`: the seed draws a time between these two. */
  between: z.tuple([duration, duration]).optional(),
  /** One sentence about the step. */
  say: worded,
}
const input = z.record(z.string(), z.unknown()).default({})

/** Kinds of steps, each with its schema. The field of the same name names the kind. */
const kinds = {
  /** Calls a procedure of the console. */
  call: z.strictObject({
    ...common,
    call: procedure,
    input,
    keep,
    /** Name of the error with which the site refuses the call; absent: it succeeds. */
    refused: z.string().min(1).max(100).optional(),
  }),
  /** Calls an operation of one of the two APIs over HTTP, as a client. */
  api: z.strictObject({
    ...common,
    api: z.string().refine((operation) => operationsByName.has(operation), 'there is no such operation'),
    /** `access_key` of the client; default: the first credential of the site. */
    client: z.string().min(1).max(200).optional(),
    /** Parameters without token; for `authenticate`, the runner fills them in. */
    params: input,
    /** Secret key instead of the right one. */
    secret_key: z.string().min(1).max(200).optional(),
    /** Token instead of that of the client's session. */
    token: z.string().min(1).max(1_000).optional(),
    /** Expected `ret`; null: no answer. */
    ret: z.int().nullable(),
    /** Expected part of the answer. */
    answer: z.record(z.string(), z.unknown()).default({}),
    keep,
    /** Number of calls, each of which must have this answer. */
    times: z.int().min(1).max(1_000).default(1),
    /** Real time in which the call is repeated until the answer is as expected. */
    within: duration.optional(),
    /** Bounds of the real time until the answer. */
    at_least: duration.optional(),
    at_most: duration.optional(),
  }),
  /** Reads by a procedure of the console until the answer is as expected. */
  expect: z.strictObject({
    ...common,
    expect: reading,
    input,
    where: z.unknown(),
    within: duration.optional(),
    keep,
  }),
  /** Waits in real time, whatever the pace: for what follows the clock of the site. */
  wait: z.strictObject({ ...common, wait: duration.pipe(z.number().max(600_000, 'must be at most 10m')) }),
} as const

type StepKind = keyof typeof kinds
const stepKinds = Object.keys(kinds).filter((kind): kind is StepKind => Object.hasOwn(kinds, kind))

type StepOf = { [K in StepKind]: { kind: K } & z.output<(typeof kinds)[K]> }
export type Step = StepOf[StepKind]
export type CallStep = StepOf['call']
export type ApiStep = StepOf['api']
export type ExpectStep = StepOf['expect']

/** A step. Its kind follows from its fields, so that each problem names the field. */
export const step = z.record(z.string(), z.unknown()).transform((given, context): Step => {
  const [kind, ...more] = stepKinds.filter((each) => Object.hasOwn(given, each))
  if (kind === undefined || more.length > 0) {
    context.addIssue({ code: 'custom', message: 'must have one of the fields call, api, expect and wait' })
    return z.NEVER
  }
  const read = kinds[kind].safeParse(given)
  if (!read.success) {
    for (const { path, message } of read.error.issues) context.addIssue({ code: 'custom', path, message })
    return z.NEVER
  }
  const { at, between } = read.data
  if ((at === undefined) === (between === undefined)) {
    context.addIssue({ code: 'custom', message: 'must have either at or between' })
    return z.NEVER
  }
  if (between !== undefined && between[0] > between[1])
    context.addIssue({ code: 'custom', path: ['between'], message: 'must begin before its end' })
  // The schema of the kind has checked the fields.
  return { kind, ...read.data } as Step
})

/**
 * Groups of procedures that a scenario may call. The groups of accounts, access tokens, backups, certificates, the trash
 * and other controllers are missing: a file from somebody else must not change who has access to a site, copy it, or
 * remove something for ever.
 */
const groups: readonly string[] = [
  'activity',
  'devices',
  'events',
  'lab',
  'licence',
  'nodes',
  'orders',
  'overview',
  'recordings',
  'relays',
  'rooms',
  'settings',
  'wall',
]

/** Procedures of other groups. */
const others: readonly ProcedureName[] = ['credentials.list', 'credentials.update', 'credentials.end_sessions']

/** Returns why a scenario may not call a procedure; undefined: it may. */
function forbiddenIn(name: string): string | undefined {
  if (!isProcedureName(name)) return `there is no procedure ${name}`
  const { effect } = procedures[name]
  if (effect === 'lasting') return `${name} creates access that outlives the scenario`
  if (effect === 'act') return `${name} reveals a secret or connects to other hosts`
  const [group = ''] = name.split('.')
  const isOfScenarios = /^lab\.\w*scenario/.test(name)
  if (!isOfScenarios && (groups.includes(group) || others.includes(name))) return undefined
  return `a scenario may not call ${name}`
}

/** `${name}` stands for a value that was drawn, or kept from an earlier answer. */
const placeholder = /\$\{([a-z][a-z0-9_]*)\}/g

/** A placeholder has no value. */
export class MissingValueError extends Error {
  override readonly name = 'MissingValueError'
  readonly missing: string

  constructor(missing: string) {
    super(`\${${missing}} has no value`)
    this.missing = missing
  }
}

/** Returns the names of the placeholders in a value. */
export function placeholdersOf(value: unknown): string[] {
  if (typeof value === 'string') return Array.from(value.matchAll(placeholder), ([, name = '']) => name)
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(placeholdersOf)
}

/**
 * Replaces the placeholders in a value. A text that is one placeholder becomes the value itself, such as a number.
 * @param valueOf returns the value of a name; undefined: none
 * @throws MissingValueError
 */
export function filledIn(value: unknown, valueOf: (name: string) => unknown): unknown {
  const required = (name: string): unknown => {
    const found = valueOf(name)
    if (found === undefined) throw new MissingValueError(name)
    return found
  }
  if (typeof value === 'string') {
    const [match] = value.matchAll(placeholder)
    if (match?.[1] !== undefined && match[0] === value) return required(match[1])
    return value.replace(placeholder, (_text, name: string) => String(required(name)))
  }
  if (Array.isArray(value)) return value.map((each) => filledIn(each, valueOf))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filledIn(each, valueOf)]))
}

/** Returns the part of an answer at a path such as `items.0.url`; undefined: missing. */
export function valueAt(answer: unknown, path: string): unknown {
  let value = answer
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[key]
  }
  return value
}
