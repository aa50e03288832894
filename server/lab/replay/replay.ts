import { sign } from '../../../clients/typescript/src/signature.ts'
import { getAccessToken } from '../../../shared/field-operations.ts'
import { authenticate } from '../../../shared/media-operations.ts'
import type { OperationContract } from '../../../shared/operation.ts'
import { operationsByName } from '../../../shared/operations.ts'
import { type DigestForm, digestForms } from '../../../shared/settings/network.ts'
import { sleep } from '../../../shared/sleep.ts'
import { type CallParameters, callRequest, httpCall, jsonObject, NoReplyError, readRet } from '../client/api-call.ts'
import type { Target } from '../client/target.ts'
import { isLeftOut, type TrafficCall } from '../traffic/format.ts'

/** Maximum number of calls under way. */
const maxUnderWay = 64
/** Sent where the recording left out a secret other than a token or digest. */
const replacedSecret = 'replayed-secret'
/** Sent where the recorded token or digest was refused. */
const wrongSecret = 'wrong'

const [usualForm] = digestForms

/** A replayed call with its result. */
export interface ReplayedCall {
  /** Number of the call in the recording, from 1. */
  number: number
  call: TrafficCall
  /** `ret` of the replay; undefined: no answer. */
  ret: number | undefined
  differences: Difference[]
  /** Reason for no answer, as a continuation of "The server …". */
  failure?: string
  /** Time until the answer, in milliseconds. */
  took: number
}

/** Recorded calls, sent to a server in the recorded order. */
export class Replay {
  readonly #target: Target
  readonly #ids = new KnownIds()
  /** Tokens by the number of the caller, each as a promise, so that simultaneous calls sign in once. */
  readonly #tokens = new Map<number, Promise<string>>()
  /** Form of digests; undefined: not asked yet. */
  #form: Promise<DigestForm> | undefined

  constructor(target: Target) {
    this.#target = target
  }

  /**
   * Sends the calls. A call waits for every call that was answered before it arrived in the recording.
   * @param pace factor of the recorded pace, such as 10 for ten times as fast; Infinity: as fast as possible
   * @param onCall called with each result
   */
  async run(
    calls: readonly TrafficCall[],
    pace: number,
    signal: AbortSignal,
    onCall: (replayed: ReplayedCall) => void,
  ): Promise<void> {
    const began = performance.now()
    const underWay = new Map<Promise<void>, number>()
    try {
      for (const [index, call] of calls.entries()) {
        const due = began + call.at / pace - performance.now()
        if (due > 0) await sleep(due, { signal })
        signal.throwIfAborted()
        const answeredBefore = [...underWay].filter(([, answeredAt]) => answeredAt <= call.at)
        await Promise.all(answeredBefore.map(([sent]) => sent))
        while (underWay.size >= maxUnderWay) await Promise.race(underWay.keys())
        const sent = this.#send(call, index + 1, signal).then((replayed) => {
          underWay.delete(sent)
          onCall(replayed)
        })
        underWay.set(sent, call.at + call.took)
      }
      await Promise.all(underWay.keys())
    } finally {
      // Calls under way end with the signal; their rejections must be handled.
      await Promise.allSettled(underWay.keys())
    }
  }

  async #send(call: TrafficCall, number: number, signal: AbortSignal): Promise<ReplayedCall> {
    const began = performance.now()
    const result = (rest: Pick<ReplayedCall, 'ret' | 'differences' | 'failure'>): ReplayedCall => ({
      number,
      call,
      ...rest,
      took: Math.round(performance.now() - began),
    })
    const operation = operationsByName.get(call.operation)
    if (operation === undefined)
      return result({ ret: undefined, differences: [], failure: `has no operation ${call.operation}` })
    try {
      const { ret, ...answer } = await this.#call(operation, call, signal)
      const differences = ret === 0 && call.ret === 0 ? compareAnswers(call.answer, without(answer), this.#ids) : []
      return result({ ret, differences })
    } catch (error) {
      if (!(error instanceof NoReplyError)) throw error
      return result({ ret: undefined, differences: [], failure: error.message })
    }
  }

  async #call(operation: OperationContract, call: TrafficCall, signal: AbortSignal): Promise<Answer> {
    const params: [string, unknown][] = []
    for (const [name, value] of Object.entries(call.params))
      params.push([name, await this.#valueOf(call, value, signal)])
    const answer = await this.#request(operation, Object.fromEntries(params), call.method, signal)
    const token =
      operation.name === authenticate.name
        ? await this.#tokenFrom(answer, signal)
        : operation.name === getAccessToken.name
          ? exchangedToken(answer)
          : undefined
    if (token !== undefined) this.#tokens.set(call.caller, Promise.resolve(token))
    return answer
  }

  async #request(
    operation: OperationContract,
    params: CallParameters,
    method: TrafficCall['method'],
    signal: AbortSignal,
  ): Promise<Answer> {
    const isJson = Object.values(params).some((value) => typeof value !== 'string')
    const as = method === 'GET' ? 'query' : isJson ? 'json' : 'form'
    const { authorities, [operation.api]: base } = this.#target
    // The parameters contain the token.
    const request = callRequest(operation, params, { token: null, method, as })
    const { body } = await httpCall({ ...request, base, authorities, deadlineMs: undefined }, signal)
    const fields = jsonObject(body) ?? {}
    const ret = readRet(fields)
    if (ret === undefined) throw new NoReplyError('answered something that is not JSON with a number `ret`')
    return { ...fields, ret }
  }

  async #valueOf(call: TrafficCall, value: unknown, signal: AbortSignal): Promise<unknown> {
    if (!isLeftOut(value)) return this.#ids.translate(value)
    const { accessKey, secretKey } = this.#target
    switch (value.left_out) {
      case 'access_key':
        return accessKey
      case 'digest':
        return call.ret === 0 ? await this.#sign(accessKey, signal) : wrongSecret
      case 'token':
        return call.caller === 0 ? wrongSecret : await this.#tokenOf(call.caller, signal)
      default:
        return call.operation === getAccessToken.name && call.ret === 0 ? secretKey : replacedSecret
    }
  }

  /** Token of a caller: from its recorded authentication, or from one of the replay's own. */
  async #tokenOf(caller: number, signal: AbortSignal): Promise<string> {
    const token = this.#tokens.get(caller) ?? this.#signIn(signal)
    this.#tokens.set(caller, token)
    try {
      return await token
    } catch (error) {
      // The next call tries again.
      this.#tokens.delete(caller)
      throw error
    }
  }

  async #signIn(signal: AbortSignal): Promise<string> {
    const { accessKey } = this.#target
    const params = { access_key: accessKey, digest: await this.#sign(accessKey, signal) }
    return (await this.#tokenFrom(await this.#request(authenticate, params, 'GET', signal), signal)) ?? wrongSecret
  }

  /** Returns the token of a new session; undefined: the answer opens none. */
  async #tokenFrom({ ret, random, key }: Answer, signal: AbortSignal): Promise<string | undefined> {
    if (ret !== 0 || typeof random !== 'string' || typeof key !== 'string') return undefined
    return await this.#sign(`${random}:${key}`, signal)
  }

  async #sign(message: string, signal: AbortSignal): Promise<string> {
    this.#form ??= this.#acceptedForm(signal)
    try {
      return await sign(await this.#form, this.#target.secretKey, message)
    } catch (error) {
      this.#form = undefined
      throw error
    }
  }

  /** Returns the first form of digests that the server accepts; the usual one if it accepts none. */
  async #acceptedForm(signal: AbortSignal): Promise<DigestForm> {
    const { accessKey, secretKey } = this.#target
    for (const form of digestForms) {
      const params = { access_key: accessKey, digest: await sign(form, secretKey, accessKey) }
      const { ret } = await this.#request(authenticate, params, 'GET', signal)
      if (ret === 0) return form
    }
    return usualForm
  }
}

/** Fields of an answer. */
type Answer = Record<string, unknown> & { ret: number }

/** Returns the token in an answer of get_access_token; undefined: there is none. */
function exchangedToken({ data }: Answer): string | undefined {
  const token: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'accessToken') : undefined
  return typeof token === 'string' ? token : undefined
}

/** Returns an answer without messages, which are not compared. */
function without({
  msg: _msg,
  result: _result,
  err: _err,
  ...fields
}: Record<string, unknown>): Record<string, unknown> {
  return fields
}

/** A field of an answer that is not as recorded. */
interface Difference {
  /** Path of the field, such as `data.items.0.userName`. */
  field: string
  /** Recorded value; undefined: the field is new. */
  recorded: unknown
  /** Value of the replay; undefined: the field is missing. */
  found: unknown
}

/** Names of fields with ids, which each server chooses for itself. */
const idField = /^id$|_id$|Id$/
/** Names of fields with times. */
const timeField = /_at$|_in_ms$|[tT]ime$/

/**
 * Compares the fields of an answer with the recorded ones. Secrets and times are not compared; ids must correspond.
 * Fields that the recording lacks are differences.
 */
function compareAnswers(
  recorded: Readonly<Record<string, unknown>>,
  found: Readonly<Record<string, unknown>>,
  ids: KnownIds,
): Difference[] {
  const differences: Difference[] = []
  const compare = (before: unknown, now: unknown, path: readonly string[]): void => {
    const name = path.at(-1) ?? ''
    if (isLeftOut(before)) {
      if (now === undefined) differences.push({ field: path.join('.'), recorded: 'a secret', found: now })
      return
    }
    if (isObject(before) && isObject(now)) {
      for (const key of new Set([...Object.keys(before), ...Object.keys(now)]))
        compare(before[key], now[key], [...path, key])
      return
    }
    const alike =
      isId(before) && isId(now) && idField.test(name)
        ? ids.match(before, now)
        : typeof before === typeof now && (before === now || timeField.test(name))
    if (!alike) differences.push({ field: path.join('.'), recorded: before, found: now })
  }
  compare(recorded, found, [])
  return differences
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}

/**
 * Ids that the server chose while traffic was recorded, and the ids that the other server chose instead. A recorded id
 * has one counterpart.
 */
class KnownIds {
  readonly #counterparts = new Map<string | number, string | number>()

  /**
   * Compares two ids. An id without a counterpart gets this one.
   * @returns whether the ids stand for the same thing
   */
  match(recorded: string | number, found: string | number): boolean {
    const known = this.#counterparts.get(recorded)
    if (known !== undefined) return known === found
    this.#counterparts.set(recorded, found)
    return true
  }

  /** Replaces recorded ids in a value by their counterparts, also within objects and lists. */
  translate(value: unknown): unknown {
    if (typeof value === 'string') return this.#counterparts.get(value) ?? value
    if (Array.isArray(value)) return value.map((item) => this.translate(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, this.translate(field)]))
  }
}
