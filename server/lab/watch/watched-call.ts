import { hash } from 'node:crypto'
import { tokenDigest } from '../../../shared/files/signed-tokens.ts'
import type { OperationContract } from '../../../shared/operation.ts'
import { allOperations, operationsByName } from '../../../shared/operations.ts'
import { type ErrorName, retOf } from '../../../shared/result-codes.ts'
import { canonicalBase64 } from '../../access/digest.ts'
import { provenRequest } from '../../edge/passed-on.ts'
import type { DroppedObservation } from '../../observe/observation.ts'
import { injectedAnswer } from '../faults.ts'

const tokenNames = new Set(allOperations.flatMap(({ token }) => token ?? []))

/** One call of a watched client, with what several checks need. */
export class WatchedCall {
  readonly observation: DroppedObservation
  /** Undefined: a fault rule of the lab closed the connection instead of answering. */
  readonly ret: number | undefined
  /** Undefined: the path is no operation, or one of older clients only. */
  readonly contract: OperationContract | undefined
  /** Digest of the token; empty: none. */
  readonly token: string
  /** Arrival and answer, in milliseconds of the monotonic clock. */
  readonly arrivedAt: number
  readonly endedAt = performance.now()
  #signature: string | undefined

  constructor(observation: DroppedObservation, ret: number | undefined) {
    this.observation = observation
    this.ret = ret
    this.contract = operationsByName.get(observation.operation)
    this.token = tokenKey(tokenIn(observation.params))
    this.arrivedAt = this.endedAt - observation.duration
  }

  /** Whether a fault rule of the lab gave the answer. */
  get isInjected(): boolean {
    return this.observation.msg === injectedAnswer
  }

  /** Whether the client closed the connection before the answer. */
  get isGone(): boolean {
    return this.ret !== undefined && this.observation.request?.socket.destroyed === true
  }

  /** Connection of the client; undefined: unknown, or that of another controller. */
  get connection(): object | undefined {
    const { request } = this.observation
    return request === undefined || provenRequest(request) !== undefined ? undefined : request.socket
  }

  is({ name }: Pick<OperationContract, 'name'>): boolean {
    return this.observation.operation === name
  }

  /** Whether the call was answered with this error. The numbers differ between the APIs. */
  hasFailed(name: ErrorName): boolean {
    return this.ret !== undefined && this.ret === retOf(this.observation.api, name)
  }

  /** Whether the token was refused. On the device API, only the reason tells this from a wrong parameter. */
  get isTokenRefused(): boolean {
    const { api, reason } = this.observation
    return this.hasFailed('tokenIncorrect') && (api === 'media' || reason !== '')
  }

  /** Whether a parameter was refused. */
  get isParameterRefused(): boolean {
    return this.hasFailed('parameter') && !this.isTokenRefused
  }

  /** Returns a parameter that is a text; undefined: missing. */
  text(name: string): string | undefined {
    const value = this.observation.params.get(name)
    return typeof value === 'string' ? value : undefined
  }

  /** Digest of operation and parameters without the token: equal for repetitions of a call. */
  get signature(): string {
    const { operation, params } = this.observation
    const own = [...params].filter(([name]) => !tokenNames.has(name))
    return (this.#signature ??= hash('sha256', JSON.stringify([operation, own]), 'base64url'))
  }

  /** Query as sent; empty: none, or unknown. */
  get query(): string {
    const { url = '' } = this.observation.request ?? {}
    const question = url.indexOf('?')
    return question === -1 ? '' : url.slice(question + 1)
  }

  /** Media type of the body, in lower case; undefined: no body. */
  get mediaType(): string | undefined {
    const { headers } = this.observation.request ?? {}
    if (headers === undefined) return undefined
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
    return hasBody ? (headers['content-type'] ?? '').toLowerCase() : undefined
  }
}

/** Returns the token in parameters, under any name; empty: none. */
export function tokenIn(params: ReadonlyMap<string, unknown>): string {
  for (const name of tokenNames) {
    const value = params.get(name)
    if (typeof value === 'string' && value !== '') return value
  }
  return ''
}

/** Returns the digest of a token in any spelling of base64; empty for no token. */
export function tokenKey(token: string): string {
  return token === '' ? '' : tokenDigest(canonicalBase64(token))
}
