import { sign } from '../../../clients/typescript/src/signature.ts'
import { getAccessToken } from '../../../shared/field-operations.ts'
import type { OperationContract } from '../../../shared/operation.ts'
import { operationsByName } from '../../../shared/operations.ts'
import { type DigestForm, digestForms } from '../../../shared/settings/network.ts'
import { sleep } from '../../../shared/sleep.ts'
import { authenticate } from '../../../shared/media-operations.ts'
import { type CallParameters, callRequest, httpCall, jsonObject, NoReplyError, readRet } from '../client/api-call.ts'
import type { Target } from '../client/target.ts'
import { isLeftOut, type TrafficCall } from '../traffic/format.ts'
import { compareAnswers, type Difference } from './compare.ts'
import { KnownIds } from './known-ids.ts'

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
