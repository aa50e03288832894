import { z } from 'zod'
import { onAbort } from '../abort.ts'
import { deviceErrorKinds } from '../device.ts'
import { mustNotFail } from '../unawaited.ts'
import { mediaRefusals } from './room-media.ts'

/** Declaration of a message: a request if it has a result, otherwise a notification, which has no response. */
interface Declaration {
  readonly params: z.ZodType
  readonly result?: z.ZodType
}
type Declarations = Readonly<Record<string, Declaration>>

export type RequestName<D extends Declarations> = {
  [M in keyof D & string]: D[M] extends { result: z.ZodType } ? M : never
}[keyof D & string]
export type NotificationName<D extends Declarations> = Exclude<keyof D & string, RequestName<D>>
export type Params<D extends Declarations, M extends keyof D> = z.output<D[M]['params']>
export type Result<D extends Declarations, M extends keyof D> = D[M] extends { result: infer R extends z.ZodType }
  ? z.output<R>
  : never

/** Handlers of all declared messages. */
export type ControlHandlers<D extends Declarations> = {
  readonly [M in keyof D]: D[M] extends { result: z.ZodType }
    ? (params: Params<D, M>, signal: AbortSignal) => Result<D, M> | Promise<Result<D, M>>
    : (params: Params<D, M>) => void
}

/**
 * Error of a request. `device`: a camera could not be pulled; `media`: a request on a room's media was rejected;
 * `other`: any other error.
 */
const failureSchema = z.discriminatedUnion('reason', [
  z.strictObject({
    reason: z.literal('device'),
    kind: z.enum(deviceErrorKinds),
    message: z.string(),
    /** Response of the device, with the request; empty: unknown. */
    detail: z.string(),
  }),
  z.strictObject({ reason: z.literal('media'), refusal: z.enum(mediaRefusals), message: z.string() }),
  z.strictObject({ reason: z.literal('other'), message: z.string() }),
])
export type ControlFailure = z.output<typeof failureSchema>

const messageSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('request'), id: z.int(), method: z.string(), params: z.unknown() }),
  z.strictObject({ type: z.literal('notification'), method: z.string(), params: z.unknown() }),
  /** The caller has abandoned the request. The receiver aborts the handler, and still responds. */
  z.strictObject({ type: z.literal('cancel'), id: z.int() }),
  /** Result of a request; `result` is undefined if the request only needs a confirmation. */
  z.strictObject({ type: z.literal('answer'), id: z.int(), result: z.unknown().optional() }),
  z.strictObject({ type: z.literal('failure'), id: z.int(), failure: failureSchema }),
])
export type ControlMessage = z.output<typeof messageSchema>

/** Connection to the process at the other end. */
export interface ControlPort {
  /**
   * Sends a message. @param urgency `soon`: the message may be delayed by a few milliseconds to be sent together with
   * later messages, in order
   */
  send(message: ControlMessage, urgency?: 'soon'): void
}

export interface ControlLinkDependencies<Out extends Declarations, In extends Declarations> {
  /** Messages that this end sends; `receives`: messages that it receives. */
  sends: Out
  receives: In
  /** Handlers of received messages. A request without a handler fails. */
  handlers: Partial<ControlHandlers<In>>
  port: ControlPort
  /** Converts the error of a handler for the other end. */
  describe: (error: unknown) => ControlFailure
  /** Returns the error with which a failed request rejects. */
  errorOf: (failure: ControlFailure) => Error
  /** Logs a malformed message or a failed handler. */
  report: (event: string, error: unknown) => void
}

/** Maximum number of pending requests of one end. */
const maxPending = 10_000

interface Pending {
  resolve(result: unknown): void
  reject(error: Error): void
}

/**
 * One end of the protocol between the controller and a media program. Each request receives one response, in any order.
 * Notifications arrive in order.
 */
export class ControlLink<Out extends Declarations, In extends Declarations> {
  readonly #dependencies: ControlLinkDependencies<Out, In>
  readonly #pending = new Map<number, Pending>()
  /** Received requests that are being handled. */
  readonly #running = new Map<number, AbortController>()
  #lastId = 0
  #closed: Error | undefined

  constructor(dependencies: ControlLinkDependencies<Out, In>) {
    this.#dependencies = dependencies
  }

  /**
   * Sends a request and waits for its response.
   * @param signal deadline of the request; when it aborts, this end cancels the request at the other end
   * @param tooLate called if the request succeeded after the signal aborted
   * @throws the error of the other end; the error of `close`; the signal's reason
   */
  async request<M extends RequestName<Out>>(
    method: M,
    params: Params<Out, M>,
    signal: AbortSignal,
    tooLate: () => void = () => {},
  ): Promise<Result<Out, M>> {
    const { sends, port, errorOf, report } = this.#dependencies
    signal.throwIfAborted()
    if (this.#closed !== undefined) throw this.#closed
    if (this.#pending.size >= maxPending)
      throw errorOf({ reason: 'other', message: 'too many requests are unanswered' })
    this.#lastId += 1
    const id = this.#lastId
    const answer = Promise.withResolvers<unknown>()
    this.#pending.set(id, answer)
    const unregister = onAbort(signal, () => {
      // The other end also responds to a canceled request. Its response removes the entry.
      this.#pending.set(id, { resolve: tooLate, reject: () => {} })
      answer.reject(signal.reason)
      // Errors of abort listeners would be uncaught exceptions.
      try {
        port.send({ type: 'cancel', id })
      } catch (error) {
        report('a request could not be cancelled', error)
      }
    })
    try {
      this.#sendRequest(id, method, params)
      const parsed = sends[method]?.result?.safeParse(await answer.promise)
      if (parsed?.success !== true) throw errorOf({ reason: 'other', message: `the answer to ${method} is malformed` })
      // The declaration connects the schema with the method, but the compiler cannot derive this from the index.
      return parsed.data as Result<Out, M>
    } finally {
      unregister()
    }
  }

  /** Sends a request. If sending fails, removes its entry, because no response will arrive. */
  #sendRequest(id: number, method: string, params: unknown): void {
    try {
      this.#dependencies.port.send({ type: 'request', id, method, params })
    } catch (error) {
      this.#pending.delete(id)
      throw error
    }
  }

  notify<M extends NotificationName<Out>>(method: M, params: Params<Out, M>): void {
    this.#dependencies.port.send({ type: 'notification', method, params })
  }

  /** Handles a message from the other end. */
  receive(value: unknown): void {
    const parsed = messageSchema.safeParse(value)
    if (!parsed.success) return this.#dependencies.report('a message is malformed', parsed.error.message)
    const message = parsed.data
    switch (message.type) {
      case 'request':
        return mustNotFail(this.#answer(message.id, message.method, message.params))
      case 'notification':
        return this.#take(message.method, message.params)
      case 'cancel':
        return this.#running.get(message.id)?.abort(new Error('the caller gave up'))
      case 'answer':
        return this.#settle(message.id)?.resolve(message.result)
      case 'failure':
        return this.#settle(message.id)?.reject(this.#dependencies.errorOf(message.failure))
    }
  }

  /** Rejects all pending requests and all later ones with this error, and aborts the handlers of received requests. */
  close(error: Error): void {
    this.#closed = error
    for (const pending of this.#pending.values()) pending.reject(error)
    this.#pending.clear()
    for (const running of this.#running.values()) running.abort(error)
  }

  async #answer(id: number, method: string, params: unknown): Promise<void> {
    const { port, describe, report } = this.#dependencies
    const abort = new AbortController()
    this.#running.set(id, abort)
    try {
      const result = await this.#handler(method)(this.#parsed(method, params), abort.signal)
      port.send({ type: 'answer', id, result })
    } catch (error) {
      const failure = describe(error)
      if (failure.reason === 'other' && !abort.signal.aborted) report(`the request ${method} failed`, error)
      // Simultaneous failures of hundreds of cameras are sent together.
      port.send({ type: 'failure', id, failure }, failure.reason === 'device' ? 'soon' : undefined)
    } finally {
      this.#running.delete(id)
    }
  }

  #take(method: string, params: unknown): void {
    try {
      void this.#handler(method)(this.#parsed(method, params), never)
    } catch (error) {
      this.#dependencies.report(`the notification ${method} failed`, error)
    }
  }

  /** Returns the handler of a received message. @throws Error if there is none */
  #handler(method: string): (params: unknown, signal: AbortSignal) => unknown {
    const { receives, handlers } = this.#dependencies
    const handler = Object.hasOwn(receives, method) ? handlers[method] : undefined
    if (handler === undefined) throw new Error(`there is no handler for ${method}`)
    // The declaration connects the parameters with the method, but the compiler cannot derive this from the index.
    return handler as (params: unknown, signal: AbortSignal) => unknown
  }

  /** Returns the validated parameters of a received message. @throws ZodError */
  #parsed(method: string, params: unknown): unknown {
    return this.#dependencies.receives[method]?.params.parse(params)
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    return pending
  }
}

const never = new AbortController().signal

/** Maximum number of messages sent together. */
const maxMessages = 256
/** Maximum delay of a message that is not urgent, in milliseconds. */
const soonMs = 10

/**
 * Sends the messages of one event loop turn together, because each send wakes the other process, which costs more than
 * reading the message. A single message is sent unchanged, several messages as an array, in order.
 */
export class GatheredMessages<Message> {
  readonly #send: (message: Message | Message[]) => void
  #waiting: Message[] = []
  #turn: NodeJS.Immediate | undefined
  #soon: NodeJS.Timeout | undefined

  constructor(send: (message: Message | Message[]) => void) {
    this.#send = send
  }

  /**
   * Sends a message before the event loop becomes idle.
   * @param urgency `soon`: within 10 ms, together with later messages, e.g. for the failures of hundreds of
   * unresponsive cameras
   */
  send(message: Message, urgency?: 'soon'): void {
    this.#waiting.push(message)
    if (this.#waiting.length >= maxMessages) this.flush()
    else if (urgency === 'soon') this.#soon ??= setTimeout(() => this.flush(), soonMs)
    else this.#turn ??= setImmediate(() => this.flush())
  }

  /** Sends the pending messages now. Must be called before the process exits. */
  flush(): void {
    clearImmediate(this.#turn)
    clearTimeout(this.#soon)
    this.#turn = undefined
    this.#soon = undefined
    const messages = this.#waiting
    this.#waiting = []
    const [first] = messages
    if (first !== undefined) this.#send(messages.length === 1 ? first : messages)
  }
}

/** Splits data from a `GatheredMessages` into its messages, in order. */
export function messagesOf(received: unknown): readonly unknown[] {
  return Array.isArray(received) ? received : [received]
}
