import { randomBytes } from 'node:crypto'
import { sign } from '../../../clients/typescript/src/signature.ts'
import type { OperationContract } from '../../../shared/operation.ts'
import type { ApiName } from '../../../shared/result-codes.ts'
import type { DigestForm } from '../../../shared/settings/network.ts'
import {
  type CallOptions,
  type CallParameters,
  type CallRequest,
  callRequest,
  httpCall,
  type HttpReply,
  jsonObject,
  NoReplyError,
  readRet,
} from '../client/api-call.ts'
import type { Target } from '../client/target.ts'
import { type OperationName, operationOf } from './operations.ts'
import { NotProvokedError, type ShownExchange } from './verdict.ts'

/** Answer to a call. */
export interface Answer {
  /** Result code; undefined: the answer cannot be read as the contract requires. */
  ret: number | undefined
  /** All fields; empty if the body is not a JSON object. */
  fields: Readonly<Record<string, unknown>>
  reply: HttpReply
  /** Body as text; bytes that are not UTF-8 are replaced. */
  text: string
  exchange: ShownExchange
}

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

/** Longest text of a request or an answer that is shown, in characters. */
const maxShown = 400

/** Secrets of a run, which no report contains. */
class Secrets {
  readonly #texts = new Set<string>()

  /** Hides a text from now on. Short texts are kept: their removal would make a report unreadable. */
  add(...texts: readonly string[]): void {
    for (const text of texts) if (text.length >= 4) this.#texts.add(text)
  }

  /** Returns the first secret in a text; undefined: none. */
  foundIn(text: string): string | undefined {
    for (const secret of this.#texts) if (text.includes(secret)) return secret
    return undefined
  }

  /** Returns a text for people: without secrets and control characters, and shortened. */
  shown(text: string): string {
    let shown = text
    for (const secret of this.#texts)
      for (const form of new Set([secret, encodeURIComponent(secret)])) shown = shown.replaceAll(form, '‹secret›')
    const visible = shown.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
    return visible.length > maxShown ? `${visible.slice(0, maxShown)}… (${visible.length} characters)` : visible
  }
}

/** Number of calls at a time while records are removed. */
const concurrency = 4

/** Calls an operation; undefined: no answer. */
type RemovalCall = (name: OperationName, params: CallParameters) => Promise<Answer | undefined>

/** Records on the server that a run has made, or may have made. */
class MadeRecords {
  readonly #rooms = new Set<string>()
  /** Devices by userId. */
  readonly #devices = new Map<string, CallParameters>()
  readonly #recordings = new Set<string>()
  readonly #lives = new Set<string>()
  /** Calls of create_room without an answer and without a room_extend_id: the number of the room is unknown. */
  #unknownRooms = 0

  /** Notes the effect of a call. @param answer undefined: no answer, so the effect is unknown */
  note(name: OperationName, params: CallParameters, answer: Answer | undefined): void {
    if (answer !== undefined && answer.ret !== 0) return
    const made = (field: string): string => textOf(answer?.fields[field])
    switch (name) {
      case 'create_room':
        if (answer === undefined && textOf(params.room_extend_id) === '') this.#unknownRooms += 1
        return this.#add(this.#rooms, answer === undefined ? textOf(params.room_extend_id) : made('room_id'))
      case 'create_outgoing_user': {
        const { roomId, userId, userAddress } = params
        this.#devices.set(textOf(userId), { roomId, userId, userAddress })
        return
      }
      case 'recording_start':
        return this.#add(this.#recordings, made('id'))
      case 'live_start':
        return this.#add(this.#lives, made('id'))
      default:
        if (answer !== undefined) this.#noteRemoval(name, params)
    }
  }

  #noteRemoval(name: OperationName, { room_id, userId, user_id, id }: CallParameters): void {
    if (name === 'delete_room') this.#rooms.delete(textOf(room_id))
    else if (name === 'destroy_outgoing_user') this.#devices.delete(textOf(userId))
    else if (name === 'force_offline') this.#devices.delete(textOf(user_id))
    else if (name === 'recording_delete') this.#recordings.delete(textOf(id))
    else if (name === 'live_delete') this.#lives.delete(textOf(id))
  }

  #add(records: Set<string>, id: string): void {
    if (id !== '') records.add(id)
  }

  /** Removes all records. Returns what may be left, for people. */
  async remove(call: RemovalCall): Promise<string[]> {
    const removals = [
      ...[...this.#devices.values()].map((device) => removal('destroy_outgoing_user', device, 'device', device.userId)),
      ...[...this.#recordings].map((id) => removal('recording_delete', { id }, 'recording', id)),
      ...[...this.#lives].map((id) => removal('live_delete', { id }, 'live stream', id)),
    ]
    const rooms = [...this.#rooms].map((room_id) => removal('delete_room', { room_id }, 'room', room_id))
    // Rooms last: the deletion of a room removes its devices, too.
    const left = [...(await this.#removeAll(removals, call)), ...(await this.#removeAll(rooms, call))]
    if (this.#unknownRooms > 0) left.push(`${this.#unknownRooms} rooms whose creation was not answered`)
    return left
  }

  async #removeAll(removals: readonly Removal[], call: RemovalCall): Promise<string[]> {
    const waiting = [...removals]
    const left: string[] = []
    const work = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const answer = await call(next.name, next.params)
        if (answer?.ret === undefined || !goneCodes.includes(answer.ret)) left.push(next.record)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    return left
  }
}

interface Removal {
  name: OperationName
  params: CallParameters
  record: string
}

/** Success, and the codes for a room, a device or a recording that does not exist. */
const goneCodes: readonly number[] = [0, 404, 424, 425, 430]

function removal(name: OperationName, params: CallParameters, kind: string, id: unknown): Removal {
  return { name, params, record: `${kind} ${textOf(id)}` }
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
