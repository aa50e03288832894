import { z } from 'zod'
import { procedures } from '../../../shared/console/contract.ts'
import type { OperationContract } from '../../../shared/operation.ts'
import { operationsByName } from '../../../shared/operations.ts'
import { forbiddenIn } from './allowed-procedures.ts'
import { duration } from './duration.ts'

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
