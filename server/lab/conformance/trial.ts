import type { ErrorName } from '../../../shared/result-codes.ts'
import { sleep } from '../../../shared/sleep.ts'
import type { CallOptions, CallParameters } from '../client/api-call.ts'
import type { Cameras } from './cameras.ts'
import type { Answer, ApiClient } from './client.ts'
import { codeOf, type OperationName, operationOf, type SuccessOf, wellFormed } from './operations.ts'
import { BrokenRuleError, failedNeed, NotProvokedError, type Source } from './verdict.ts'

/** A rule of the API. */
export interface Rule {
  /** Unique: operation or subject, then the condition, such as `create_room.topic.too-long`. */
  id: string
  /** Condition and expected answer, for people. */
  sentence: string
  source: Source
  /** Provokes the condition. @throws BrokenRuleError, NotProvokedError, NoReplyError; the signal's reason */
  check: (trial: Trial) => Promise<void>
}

/** Rules with a common subject. */
export interface RuleGroup {
  title: string
  rules: readonly Rule[]
}

/** Expected content of a refusal besides its code. */
interface Refusal extends CallOptions {
  /** Parameter that `msg` must name. */
  names?: string
}

/** Errors of the checks before an operation runs. */
const earlyErrors = ['notSupported', 'parameter', 'tokenIncorrect'] as const

/** One check of a rule: calls operations and compares answers. All methods throw BrokenRuleError and NotProvokedError. */
export class Trial {
  readonly client: ApiClient
  readonly cameras: Cameras
  readonly signal: AbortSignal

  constructor(client: ApiClient, cameras: Cameras, signal: AbortSignal) {
    this.client = client
    this.cameras = cameras
    this.signal = signal
  }

  /** Returns an id that no record has. */
  id(): string {
    return this.client.newId()
  }

  /** Calls an operation, whatever it answers. */
  call(name: OperationName, params: CallParameters, options: CallOptions = {}): Promise<Answer> {
    return this.client.call(name, params, options, this.signal)
  }

  /** Calls an operation that must refuse with the code of an error. */
  async refused(name: OperationName, params: CallParameters, error: ErrorName, options: Refusal = {}): Promise<void> {
    const { names, ...rest } = options
    const answer = await this.call(name, params, rest)
    const code = codeOf(name, error)
    readable(answer)
    if (answer.ret !== code) throw new BrokenRuleError(`ret ${code}`, answer.exchange.came)
    const { msg } = answer.fields
    if (names !== undefined && !(typeof msg === 'string' && msg.includes(names)))
      throw new BrokenRuleError(`ret ${code} and a msg that names ${names}`, answer.exchange.came)
  }

  /**
   * Calls an operation whose path, parameters and token must be accepted, whatever else is wrong with the call. A rule
   * about these is not broken if a later check is.
   */
  async accepted(name: OperationName, params: CallParameters, options: CallOptions = {}): Promise<void> {
    await this.#notRefused(name, params, options, earlyErrors)
  }

  /** As `accepted`, for the token alone. */
  async acceptedToken(name: OperationName, params: CallParameters, options: CallOptions): Promise<void> {
    await this.#notRefused(name, params, options, ['tokenIncorrect'])
  }

  async #notRefused(
    name: OperationName,
    params: CallParameters,
    options: CallOptions,
    errors: readonly ErrorName[],
  ): Promise<void> {
    const answer = await this.call(name, params, options)
    readable(answer)
    const codes = [...new Set(errors.map((error) => codeOf(name, error)))]
    if (codes.includes(answer.ret ?? 0)) throw new BrokenRuleError(`not ret ${codes.join(', ')}`, answer.exchange.came)
  }

  /** Calls an operation that must succeed. */
  async succeed<N extends OperationName>(
    name: N,
    params: CallParameters,
    options: CallOptions = {},
  ): Promise<SuccessOf<N>> {
    return this.succeeded(name, await this.call(name, params, options))
  }

  /** Returns the fields of an answer that must be a success. */
  succeeded<N extends OperationName>(name: N, answer: Answer): SuccessOf<N> {
    readable(answer)
    if (answer.ret !== 0) throw new BrokenRuleError('ret 0', answer.exchange.came)
    return successOf(name, answer)
  }

  /** As `succeed`, for a step that is not what the rule is about: its failure leaves the rule unproven. */
  async prepare<N extends OperationName>(
    name: N,
    params: CallParameters,
    options: CallOptions = {},
  ): Promise<SuccessOf<N>> {
    try {
      return await this.succeed(name, params, options)
    } catch (error) {
      if (!(error instanceof BrokenRuleError)) throw error
      throw new NotProvokedError(`${failedNeed(name)}: ${error.came}`)
    }
  }

  /** Creates a room, and returns its number. */
  async room(params: CallParameters = {}): Promise<string> {
    const { room_id } = await this.prepare('create_room', { ...wellFormed('create_room', ''), ...params })
    return room_id
  }

  /** Compares a value with the expected one, as JSON. */
  equal(what: string, value: unknown, expected: unknown): void {
    const [came, wanted] = [JSON.stringify(value), JSON.stringify(expected)]
    if (came !== wanted) throw new BrokenRuleError(`${what} ${wanted}`, `${what} ${came ?? 'missing'}`)
  }

  /** Requires a condition. */
  holds(condition: boolean, expected: string, came: string): void {
    if (!condition) throw new BrokenRuleError(expected, this.client.secrets.shown(came))
  }

  /** Repeats a check for at most `milliseconds` until it holds. */
  async soon(milliseconds: number, check: () => Promise<void>): Promise<void> {
    for (const end = performance.now() + milliseconds; ; await sleep(50, { signal: this.signal })) {
      try {
        return await check()
      } catch (error) {
        if (!(error instanceof BrokenRuleError) || performance.now() > end) throw error
      }
    }
  }
}

/** An answer that cannot be read breaks the rules about every answer, and not the rule that needs it. */
function readable({ ret, exchange }: Answer): void {
  if (ret === undefined) throw new NotProvokedError(`the answer cannot be read: ${exchange.came}`)
}

/** Returns the fields of a success. Unknown fields are accepted here: only the rule about the fields is broken. */
function successOf<N extends OperationName>(name: N, { fields: { ret, ...fields }, exchange }: Answer): SuccessOf<N> {
  const { success, error } = operationOf(name).success.safeParse(fields)
  const isComplete = success || error.issues.every(({ code }) => code === 'unrecognized_keys')
  if (!isComplete) throw new NotProvokedError(`the fields of the answer are wrong: ${exchange.came}`)
  // The schema of the operation has just checked the fields.
  return fields as SuccessOf<N>
}
