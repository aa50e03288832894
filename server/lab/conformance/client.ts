import { randomBytes } from 'node:crypto'
import { sign } from '../../../clients/typescript/src/signature.ts'
import type { OperationContract } from '../../../shared/operation.ts'
import type { ApiName } from '../../../shared/result-codes.ts'
import type { DigestForm } from '../../../shared/settings/network.ts'
import { jsonObject, readRet } from '../client/answer-body.ts'
import type { Answer } from './answer.ts'
import { type CallOptions, type CallParameters, type CallRequest, callRequest } from '../client/call-request.ts'
import { httpCall, type HttpReply, NoReplyError } from '../client/http-call.ts'
import { MadeRecords } from './made-records.ts'
import { operationOf, type OperationName } from './operations.ts'
import type { Target } from '../client/target.ts'
import { NotProvokedError, type ShownExchange } from './verdict.ts'
import { Secrets } from './secrets.ts'

/** Answer with the circumstances that rules about every answer need. */
export interface Observation {
  api: ApiName
  /** undefined: a call of an unknown path. */
  operation: OperationContract | undefined
  answer: Answer
  isScript: boolean
  milliseconds: number
}

/** Unanswered calls of an operation in succession after which it is not called again. */
const maxUnanswered = 2

/** A client of both APIs, which records what it sends and receives, and what it makes on the server. */
export class ApiClient {
  readonly target: Target
  readonly secrets = new Secrets()
  readonly made = new MadeRecords()
  /** Token of the session; empty: none. */
  token = ''
  /** Form of the digests that the server accepts. */
  form: DigestForm = 'sha1-hex'
  /** Forms that the server refused. */
  readonly refusedForms = new Set<DigestForm>()
  /** Called with each answer. */
  onAnswer: (observation: Observation) => void = () => {}
  /** Called with each request and its answer or failure. */
  onExchange: (exchange: ShownExchange) => void = () => {}
  /** Beginning of the ids of all records that this client makes. */
  readonly #idPrefix = `conformance-${randomBytes(5).toString('hex')}`
  #ids = 0
  /** Unanswered calls in succession, by path. */
  readonly #unanswered = new Map<string, number>()

  readonly #deadlineMs: number | undefined

  /** @param deadlineMs maximum time for an answer, in milliseconds; default: that of httpCall */
  constructor(target: Target, deadlineMs?: number) {
    this.target = target
    this.#deadlineMs = deadlineMs
    this.secrets.add(target.secretKey)
  }

  /** Returns an id that no record has. */
  newId(): string {
    this.#ids += 1
    return `${this.#idPrefix}-${this.#ids}`
  }

  /** Signs a message with the secret key. The result is hidden in reports. */
  async sign(message: string, form = this.form, secretKey = this.target.secretKey): Promise<string> {
    const signed = await sign(form, secretKey, message)
    this.secrets.add(signed)
    return signed
  }

  /** Opens a session. Returns the answer, and the token; empty: refused. */
  async signIn(form: DigestForm, signal: AbortSignal): Promise<{ answer: Answer; token: string }> {
    const { accessKey } = this.target
    const answer = await this.call(
      'authenticate',
      { access_key: accessKey, digest: await this.sign(accessKey, form) },
      {},
      signal,
    )
    const { random, key } = answer.fields
    const signedIn = answer.ret === 0 && typeof random === 'string' && typeof key === 'string'
    return { answer, token: signedIn ? await this.sign(`${random}:${key}`, form) : '' }
  }

  /** Calls an operation. @throws NoReplyError, NotProvokedError; the signal's reason */
  async call(
    name: OperationName,
    params: CallParameters,
    { token = this.token, ...options }: CallOptions,
    signal: AbortSignal,
  ): Promise<Answer> {
    const operation = operationOf(name)
    try {
      const answer = await this.#send(
        operation.api,
        callRequest(operation, params, { token, ...options }),
        operation,
        signal,
      )
      this.made.note(name, params, answer)
      return answer
    } catch (error) {
      if (!(error instanceof NotProvokedError)) this.made.note(name, params, undefined)
      throw error
    }
  }

  /** Sends a request that is not a call of an operation. @throws as `call` does */
  send(api: ApiName, request: CallRequest, signal: AbortSignal): Promise<Answer> {
    return this.#send(api, request, undefined, signal)
  }

  async #send(
    api: ApiName,
    request: CallRequest,
    operation: OperationContract | undefined,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { authorities, [api]: base } = this.target
    const path = operation?.path ?? ''
    const unanswered = this.#unanswered.get(path) ?? 0
    if (unanswered >= maxUnanswered) throw new NotProvokedError(`${path} did not answer ${unanswered} times`)
    const sent = this.secrets.shown(`${request.method} ${request.target} ${request.body ?? ''}`.trim())
    const began = performance.now()
    let reply: HttpReply
    try {
      const deadlineMs = this.#deadlineMs
      reply = await httpCall({ ...request, base, authorities, deadlineMs, ownConnection: true }, signal)
    } catch (error) {
      if (!(error instanceof NoReplyError)) throw error
      this.#unanswered.set(path, unanswered + 1)
      this.onExchange({ sent, came: `The server ${error.message}.` })
      throw error
    }
    this.#unanswered.delete(path)
    const answer = this.#read(reply, sent)
    this.onExchange(answer.exchange)
    const isScript = /[?&]callback=/.test(request.target)
    this.onAnswer({ api, operation, answer, isScript, milliseconds: performance.now() - began })
    return answer
  }

  #read(reply: HttpReply, sent: string): Answer {
    const fields = jsonObject(reply.body) ?? {}
    for (const name of ['random', 'key']) {
      const value = fields[name]
      if (typeof value === 'string') this.secrets.add(value)
    }
    const text = reply.body.toString('utf8')
    const came = this.secrets.shown(`HTTP ${reply.status} ${text}`)
    return { ret: readRet(fields), fields, reply, text, exchange: { sent, came } }
  }
}
