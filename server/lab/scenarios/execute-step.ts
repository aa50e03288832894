import { unlessAborted } from '../../../shared/abort.ts'
import type { ConsoleResult } from '../../../shared/domain/outcome.ts'
import { sleep } from '../../../shared/sleep.ts'
import type { ApiAnswer, ScenarioClients } from './clients.ts'
import {
  type ApiStep,
  type CallStep,
  type ExpectStep,
  filledIn,
  operationNamed,
  type Step,
  valueAt,
} from './step-schema.ts'

/** Result of a step. */
export type StepOutcome =
  | { outcome: 'holds' }
  | { outcome: 'broken'; expected: string; came: string }
  | { outcome: 'skipped'; reason: string }

/** Dependencies of steps on their site and on the run. */
export interface StepContext {
  /** Calls a procedure of the console; never rejects. */
  call: (procedure: string, input: unknown) => Promise<ConsoleResult<unknown>>
  /** Called with the id of each room and device that a step made. */
  made: (kind: 'rooms' | 'devices', id: string) => void
  clients: ScenarioClients
  /** `access_key` of the client of a step that names none. */
  usualClient: string
  /** Drawn and kept values by name. */
  values: Map<string, unknown>
  signal: AbortSignal
}

/** Maximum time for the answer of a procedure, in milliseconds. */
const maxCallMs = 30_000
/** Interval between two attempts of a step with `within`, in milliseconds. */
const attemptMs = 100

const holds: StepOutcome = { outcome: 'holds' }
const broken = (expected: string, came: string): StepOutcome => ({ outcome: 'broken', expected, came })

/** Runs a step. @throws MissingValueError; the signal's reason */
export async function executeStep(step: Step, context: StepContext): Promise<StepOutcome> {
  switch (step.kind) {
    case 'call':
      return await executeCall(step, context)
    case 'api':
      return await executeApi(step, context)
    case 'expect':
      return await executeExpect(step, context)
    case 'wait':
      await sleep(step.wait, { signal: context.signal })
      return holds
  }
}

const valueOf =
  ({ values }: StepContext) =>
  (name: string): unknown =>
    values.get(name)

/** Paths of the ids in answers of procedures and operations that make rooms and devices. */
const madeIds: Readonly<Record<string, readonly [kind: 'rooms' | 'devices', path: string]>> = {
  'rooms.create': ['rooms', 'room_id'],
  create_room: ['rooms', 'room_id'],
  'devices.create': ['devices', 'userId'],
  'lab.camera_to_room': ['devices', 'userId'],
  create_outgoing_user: ['devices', 'data.userId'],
}

/** Reports the record that a successful call made. */
function noteMade(name: string, answer: unknown, { made }: StepContext): void {
  const [kind, path] = madeIds[name] ?? []
  const id = path === undefined ? undefined : valueAt(answer, path)
  if (kind !== undefined && typeof id === 'string') made(kind, id)
}

/** Keeps values of an answer for later steps. */
function keepValues(
  keep: Readonly<Record<string, string>>,
  answer: unknown,
  { values }: StepContext,
): StepOutcome | undefined {
  for (const [name, path] of Object.entries(keep)) {
    const value = valueAt(answer, path)
    if (value === undefined) return broken(`${path} in the answer`, shown(answer))
    values.set(name, value)
  }
  return undefined
}

async function calledIn(procedure: string, input: unknown, context: StepContext): Promise<ConsoleResult<unknown>> {
  const filled = filledIn(input, valueOf(context))
  const deadline = AbortSignal.timeout(maxCallMs)
  const either = AbortSignal.any([context.signal, deadline])
  return await unlessAborted(context.call(procedure, filled), either).catch((error: unknown) => {
    if (context.signal.aborted || !deadline.aborted) throw error
    const message = `no answer within ${maxCallMs / 1_000} s`
    return { ok: false, error: { code: 'failed', name: 'noAnswer', values: {}, message } } as const
  })
}

async function executeCall({ call, input, keep, refused }: CallStep, context: StepContext): Promise<StepOutcome> {
  const result = await calledIn(call, input, context)
  if (result.ok) {
    noteMade(call, result.value, context)
    if (refused !== undefined) return broken(`refusal ${refused}`, 'the call succeeded')
    return keepValues(keep, result.value, context) ?? holds
  }
  const { name, message } = result.error
  if (refused === name) return holds
  return broken(refused === undefined ? 'success' : `refusal ${refused}`, `${name}: ${message}`)
}

/** Repeats an attempt until it holds, or until a real time has passed. */
async function untilHolds(
  within: number | undefined,
  signal: AbortSignal,
  attempt: () => Promise<StepOutcome>,
): Promise<StepOutcome> {
  const ends = performance.now() + (within ?? 0)
  for (;;) {
    const outcome = await attempt()
    if (outcome.outcome === 'holds' || performance.now() >= ends) return outcome
    await sleep(attemptMs, { signal })
  }
}

async function executeExpect(step: ExpectStep, context: StepContext): Promise<StepOutcome> {
  const { expect, input, where, within, keep } = step
  const part = filledIn(where, valueOf(context))
  return await untilHolds(within, context.signal, async () => {
    const result = await calledIn(expect, input, context)
    if (!result.ok) return broken('success', `${result.error.name}: ${result.error.message}`)
    const different = part === undefined ? undefined : mismatch(part, result.value)
    if (different === undefined) return keepValues(keep, result.value, context) ?? holds
    const { path, expected, came } = different
    return broken(path === '' ? expected : `${path} ${expected}`, came)
  })
}

async function executeApi(step: ApiStep, context: StepContext): Promise<StepOutcome> {
  const { within, times, keep } = step
  const call = {
    operation: operationNamed(step.api),
    accessKey: step.client ?? context.usualClient,
    params: filledIn(step.params, valueOf(context)) as Readonly<Record<string, unknown>>,
    secretKey: step.secret_key,
    token: step.token,
  }
  const part = filledIn(step.answer, valueOf(context))
  return await untilHolds(within, context.signal, async () => {
    for (let count = 1; count <= times; count++) {
      const answer = await context.clients.call(call, context.signal)
      if (answer.ret === 0) noteMade(step.api, answer.fields, context)
      const outcome = judged(step, part, answer) ?? keepValues(keep, answer.fields, context)
      if (outcome !== undefined) return outcome
    }
    return holds
  })
}

/** Compares an answer of an API with what a step expects; undefined: it is as expected. */
function judged({ ret, at_least, at_most }: ApiStep, part: unknown, answer: ApiAnswer): StepOutcome | undefined {
  const { fields, failure, took } = answer
  if ((answer.ret ?? null) !== ret) {
    const came = failure === undefined ? shown(fields) : `the server ${failure}`
    return broken(ret === null ? 'no answer' : `ret ${ret}`, came)
  }
  const different = mismatch(part, fields)
  if (different !== undefined) return broken(`${different.path} ${different.expected}`, different.came)
  if (at_least !== undefined && took < at_least) return broken(`an answer after at least ${at_least} ms`, `${took} ms`)
  if (at_most !== undefined && took > at_most) return broken(`an answer within ${at_most} ms`, `${took} ms`)
  return undefined
}

/** Maximum length of a value in a sentence. */
const maxShown = 120

/** Returns a value as short JSON. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
}

/** First difference between an expected part and a value. */
interface Mismatch {
  /** Path such as `items.0.state`; empty: the whole value. */
  path: string
  expected: string
  came: string
}

/**
 * Returns the first difference between an expected part and a value; undefined: the value contains the part. Of an
 * object, the expected fields must match. Of a list, each expected element must match another element; an empty list
 * matches only an empty one.
 */
function mismatch(part: unknown, value: unknown, path = ''): Mismatch | undefined {
  const found = { path, expected: shown(part), came: shown(value) }
  if (Array.isArray(part)) {
    if (!Array.isArray(value) || (part.length === 0 && value.length > 0)) return found
    return holdsEach(part, value) ? undefined : found
  }
  if (typeof part !== 'object' || part === null) return Object.is(part, value) ? undefined : found
  if (typeof value !== 'object' || value === null) return found
  for (const [key, each] of Object.entries(part)) {
    const inside = Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined
    const first = mismatch(each, inside, path === '' ? key : `${path}.${key}`)
    if (first !== undefined) return first
  }
  return undefined
}

function holdsEach(parts: readonly unknown[], values: readonly unknown[]): boolean {
  const left = [...values]
  return parts.every((part) => {
    const index = left.findIndex((value) => mismatch(part, value) === undefined)
    if (index >= 0) left.splice(index, 1)
    return index >= 0
  })
}
