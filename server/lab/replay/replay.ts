import type { OperationContract } from '../../../shared/operation.ts'
import { allOperations } from '../../../shared/operations.ts'
import { digestForms } from '../../../shared/settings/network.ts'
import { sleep } from '../../../shared/sleep.ts'
import { httpCall, NoReplyError } from '../conformance/http-call.ts'
import type { Target } from '../conformance/options.ts'
import { signature } from '../conformance/signature.ts'
import { isLeftOut, type TrafficCall } from '../traffic/format.ts'
import { compareAnswers, type Difference } from './compare.ts'
import { KnownIds } from './known-ids.ts'

/** Maximum number of calls under way. */
const maxUnderWay = 64
/** Sent where the recording left out a secret other than a token or digest. */
const replacedSecret = 'replayed-secret'
/** Sent where the recorded token or digest was refused. */
const wrongSecret = 'wrong'

const byName: ReadonlyMap<string, OperationContract> = new Map(allOperations.map((each) => [each.name, each]))

/** A replayed call with its result. */
export interface ReplayedCall {
  /** Number of the call in the recording, from 1. */
  number: number
  call: TrafficCall
  /** `ret` of the replay; undefined: no answer. */
  ret: number | undefined
  differences: Difference[]
  /** Why there is no answer, as a continuation of "The server …". */
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
    const operation = byName.get(call.operation)
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

  async #call(
    operation: OperationContract,
    call: TrafficCall,
    signal: AbortSignal,
  ): Promise<Record<string, unknown> & { ret: number }> {
    const params: [string, unknown][] = []
    for (const [name, value] of Object.entries(call.params))
      params.push([name, await this.#valueOf(call, value, signal)])
    const { media, device, authorities } = this.#target
    const { body } = await httpCall(
      {
        base: operation.api === 'media' ? media : device,
        authorities,
        method: call.method,
        ...requestOf(operation.path, call.method, params),
      },
      signal,
    )
    const answer = answerOf(body)
    if (operation.token === null && answer.ret === 0)
      this.#tokens.set(call.caller, Promise.resolve(this.#tokenFrom(answer)))
    return answer
  }

  async #valueOf(call: TrafficCall, value: unknown, signal: AbortSignal): Promise<unknown> {
    if (!isLeftOut(value)) return this.#ids.translate(value)
    const { accessKey, secretKey } = this.#target
    switch (value.left_out) {
      case 'access_key':
        return accessKey
      case 'digest':
        return call.ret === 0 ? signature(digestForms[0], secretKey, accessKey) : wrongSecret
      case 'token':
        return call.caller === 0 ? wrongSecret : await this.#tokenOf(call.caller, signal)
      default:
        return replacedSecret
    }
  }

  /** Token of a caller: from its recorded authentication, or from one of the replay's own. */
  async #tokenOf(caller: number, signal: AbortSignal): Promise<string> {
    const token = this.#tokens.get(caller) ?? this.#signIn(signal)
    this.#tokens.set(caller, token)
    return await token
  }

  async #signIn(signal: AbortSignal): Promise<string> {
    const { media, accessKey, secretKey, authorities } = this.#target
    const query = new URLSearchParams({
      access_key: accessKey,
      digest: signature(digestForms[0], secretKey, accessKey),
    })
    const { body } = await httpCall(
      { base: media, authorities, method: 'GET', target: `/rtc/auth/valid?${query.toString()}` },
      signal,
    )
    const answer = answerOf(body)
    return answer.ret === 0 ? this.#tokenFrom(answer) : wrongSecret
  }

  #tokenFrom({ random, key }: Record<string, unknown>): string {
    return signature(digestForms[0], this.#target.secretKey, `${String(random)}:${String(key)}`)
  }
}

/** Query or body of a request: a body as a form, or as JSON if a value is not a text. */
function requestOf(
  path: string,
  method: TrafficCall['method'],
  params: readonly (readonly [string, unknown])[],
): { target: string; headers?: Record<string, string>; body?: string } {
  if (method === 'POST' && params.some(([, value]) => typeof value !== 'string'))
    return {
      target: path,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(Object.fromEntries(params)),
    }
  const form = new URLSearchParams(params.map(([name, value]): [string, string] => [name, textOf(value)])).toString()
  if (method === 'GET') return { target: form === '' ? path : `${path}?${form.replaceAll('+', '%20')}` }
  return { target: path, headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: form }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** @throws NoReplyError if the body is not an answer of the API */
function answerOf(body: Buffer): Record<string, unknown> & { ret: number } {
  try {
    const answer: unknown = JSON.parse(body.toString('utf8'))
    if (typeof answer === 'object' && answer !== null && 'ret' in answer && typeof answer.ret === 'number')
      return { ...answer, ret: answer.ret }
  } catch {
    // Reported below.
  }
  throw new NoReplyError('answered something that is not JSON with a number `ret`')
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
