import { randomBytes } from 'node:crypto'
import { type RawData, WebSocket } from 'ws'
import { z } from 'zod'
import { onAbort } from '../../../../shared/abort.ts'
import { OpenCalls, within } from '../../port/deadline.ts'
import { NodeConnectionError, NodeError } from '../../port/media-node-port.ts'
import { guarded, type NodeLogger } from '../../port/node-failure.ts'
import type { Confirms } from '../../secrets/janus-access.ts'
import { JanusError } from './janus-error.ts'
import { stillLeads } from './still-leads.ts'

/** Address, credentials and limits of a connection to a node. */
export interface JanusSocketOptions {
  /** ws:// or wss://, the address of the node's WebSocket transport. */
  url: string
  /** API secret; empty if the node requires none. */
  apiSecret: string
  /** Token, or a function that returns a valid token, for a node that requires tokens. Left out: no token is sent. */
  token?: string | (() => string) | undefined
  logger: NodeLogger
  /** Timeout of a request, in milliseconds. */
  answerMs?: number
  /** Leadership of this controller, checked before each request. */
  leadership: Confirms
  /** Origin header, for a node that checks it. Left out: no header is sent. */
  origin?: string | undefined
}

/** A request, to which the transaction and the secret are added. */
export interface JanusRequest {
  janus: string
  session_id?: number
  handle_id?: number
  [field: string]: unknown
}

export interface SessionListener {
  event(message: JanusMessage): void
  /** Called once when the socket has ended. No event follows. */
  ended(why: string): void
}

const defaultAnswerMs = 5_000
/** Maximum size of a message of Janus, in bytes. The largest message is a list of many participants. */
const maxBytes = 4 * 1024 * 1024

/**
 * A WebSocket to one Janus, for requests, answers, and events of the sessions opened through it. It ends when either
 * side closes it, and is not reopened: sessions are claimed through another socket.
 */
export class JanusSocket {
  readonly #socket: WebSocket
  readonly #options: JanusSocketOptions
  readonly #sessions = new Map<number, SessionListener>()
  readonly #answers = new Map<string, (message: JanusMessage) => void>()
  readonly #openCalls = new OpenCalls()
  readonly #closed = Promise.withResolvers<string>()
  /** Distinguishes two sockets of one process in Janus's log. */
  readonly #name = randomBytes(4).toString('hex')
  #transactions = 0
  #end: string | undefined

  private constructor(socket: WebSocket, options: JanusSocketOptions) {
    this.#socket = socket
    this.#options = options
    socket.on('message', (bytes) =>
      guarded(options.logger, 'a message of a Janus node was not taken', () => this.#receive(textOf(bytes))),
    )
    socket.on('close', (code) => this.#ended(`it closed the connection (${code})`))
    socket.on('error', (error) => this.#ended(error.message))
  }

  /**
   * Opens a connection.
   * @throws NodeConnectionError; the signal's reason
   */
  static async open(options: JanusSocketOptions, signal: AbortSignal): Promise<JanusSocket> {
    signal.throwIfAborted()
    const { url, origin, answerMs = defaultAnswerMs } = options
    const socket = new WebSocket(url, 'janus-protocol', {
      handshakeTimeout: answerMs,
      perMessageDeflate: false,
      maxPayload: maxBytes,
      ...(origin === undefined ? {} : { origin }),
    })
    const opened = Promise.withResolvers<void>()
    const giveUp = (): void => {
      opened.reject(signal.reason)
      socket.terminate()
    }
    const unregister = onAbort(signal, giveUp)
    socket.once('open', opened.resolve)
    // This listener stays: terminating a socket before it is open also emits an error.
    socket.on('error', (error) => opened.reject(new NodeConnectionError(error.message, { cause: error })))
    try {
      await opened.promise
    } finally {
      unregister()
    }
    return new JanusSocket(socket, options)
  }

  /** Resolves with the reason when the socket has ended. */
  get closed(): Promise<string> {
    return this.#closed.promise
  }

  /** Returns whether the socket accepts requests. */
  get isOpen(): boolean {
    return this.#end === undefined
  }

  /**
   * Sends a request and returns its answer. For a request to a plugin, that is the plugin's answer, not Janus's
   * acknowledgment.
   * @param tooLate called with the answer if the request succeeds after the returned promise was rejected
   * @throws JanusError; NodeConnectionError when the socket ends; DeadlineError; the signal's reason
   */
  request(
    request: JanusRequest,
    signal: AbortSignal,
    tooLate: (answer: JanusMessage) => void = () => {},
  ): Promise<JanusMessage> {
    if (this.#end !== undefined) return Promise.reject(new NodeConnectionError(this.#end))
    const { leadership, answerMs = defaultAnswerMs } = this.#options
    const limits = { milliseconds: answerMs, signal, openCalls: this.#openCalls }
    return within(limits, (inner) => {
      const pending = stillLeads(leadership, inner)
      return pending === undefined
        ? this.#ask(request, inner, tooLate)
        : pending.then(() => this.#ask(request, inner, tooLate))
    })
  }

  #ask(request: JanusRequest, signal: AbortSignal, tooLate: (answer: JanusMessage) => void): Promise<JanusMessage> {
    if (this.#end !== undefined) return Promise.reject(new NodeConnectionError(this.#end))
    this.#transactions += 1
    const transaction = `${this.#name}-${this.#transactions}`
    const { apiSecret } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<JanusMessage>()
    this.#answers.set(transaction, (message) => {
      // Janus acknowledges a queued request to a plugin before the answer.
      if (message.janus === 'ack' && request.janus === 'message') return
      this.#answers.delete(transaction)
      const error = errorOf(message)
      if (error !== undefined) reject(error)
      else if (signal.aborted) tooLate(message)
      else resolve(message)
    })
    // Fields that are undefined are omitted. A token in the request overrides the token of the socket.
    this.#socket.send(
      JSON.stringify({ token: this.#token(), ...request, transaction, apisecret: apiSecret || undefined }),
    )
    return promise
  }

  listen(sessionId: number, listener: SessionListener): void {
    if (this.#end === undefined) this.#sessions.set(sessionId, listener)
    else listener.ended(this.#end)
  }

  /** Stops listening to a session. */
  forget(sessionId: number): void {
    this.#sessions.delete(sessionId)
  }

  /**
   * Closes the socket immediately. Janus keeps the socket's sessions until the time for claiming them has passed.
   * Idempotent.
   */
  close(why = 'the connection was ended'): void {
    this.#ended(why)
    this.#socket.terminate()
  }

  #token(): string | undefined {
    const { token } = this.#options
    return typeof token === 'function' ? token() : token
  }

  #receive(text: string): void {
    const message = parse(text)
    if (message === undefined) return this.close('it sent an invalid Janus message')
    const answer = message.transaction === undefined ? undefined : this.#answers.get(message.transaction)
    if (answer !== undefined) answer(message)
    else if (message.session_id !== undefined) this.#sessions.get(message.session_id)?.event(message)
  }

  #ended(why: string): void {
    if (this.#end !== undefined) return
    this.#end = why
    this.#closed.resolve(why)
    this.#answers.clear()
    this.#openCalls.endAll(new NodeConnectionError(why))
    const listeners = [...this.#sessions.values()]
    this.#sessions.clear()
    for (const listener of listeners)
      guarded(this.#options.logger, 'the end of a Janus session was not taken', () => listener.ended(why))
  }
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8')
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8')
}

function parse(text: string): JanusMessage | undefined {
  try {
    return janusMessageSchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Returns the error in an answer of the core or of a plugin. */
function errorOf({ janus, error, plugindata }: JanusMessage): NodeError | undefined {
  if (janus === 'error')
    return error === undefined ? new NodeError('it refused without a reason') : new JanusError(error.code, error.reason)
  const code = plugindata?.data.error_code
  if (typeof code !== 'number') return undefined
  const reason = plugindata?.data.error
  return new JanusError(code, typeof reason === 'string' ? reason : 'no reason given')
}

const jsepSchema = z.looseObject({ type: z.enum(['offer', 'answer']), sdp: z.string() })

/** A session description in the format of Janus. */
export type Jsep = z.output<typeof jsepSchema>

const candidateSchema = z.looseObject({
  candidate: z.string().optional(),
  sdpMid: z.string().optional(),
  sdpMLineIndex: z.number().optional(),
  completed: z.boolean().optional(),
})

/** An ICE candidate, or the end of candidates (`completed`). */
export type JanusCandidate = z.output<typeof candidateSchema>

/** A message of Janus to a client of its API, with the fields that are used here. */
const janusMessageSchema = z.looseObject({
  janus: z.string(),
  transaction: z.string().optional(),
  session_id: z.number().optional(),
  /** The handle that sent the message. */
  sender: z.number().optional(),
  data: z.looseObject({ id: z.number() }).optional(),
  error: z.looseObject({ code: z.number(), reason: z.string() }).optional(),
  plugindata: z.looseObject({ data: z.record(z.string(), z.unknown()) }).optional(),
  jsep: jsepSchema.optional(),
  candidate: candidateSchema.optional(),
  /** Reason of a hangup. */
  reason: z.string().optional(),
  /** Kind of `media`: `audio` or `video`. */
  type: z.string().optional(),
  mid: z.string().optional(),
  receiving: z.boolean().optional(),
})

export type JanusMessage = z.output<typeof janusMessageSchema>

/** Answer or event of a plugin, with a session description if it has one. */
export interface PluginMessage {
  data: Record<string, unknown>
  jsep: Jsep | undefined
}
