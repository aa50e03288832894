import type { IncomingMessage, ServerResponse } from 'node:http'
import { limits } from '../../shared/limits.ts'
import { ApiError, type ApiName, type ErrorName, resultCodes, retOf, success } from '../../shared/result-codes.ts'
import type { Sessions } from '../access/sessions.ts'
import { clientAddress } from '../edge/client-address.ts'
import type { Fault, FaultRules } from '../lab/faults.ts'
import type { Log } from '../observe/log.ts'
import type { RequestObserver } from '../observe/observation.ts'
import type { AnswerWriter } from './answer.ts'
import { announcesBody, ClientGone, readBody, readBodyParameters } from './body.ts'
import { isCallback } from './jsonp.ts'
import type { AnyOperation } from './operation.ts'
import { type Parameters, readParameters } from './parameters.ts'
import { makeRoute, type Route } from './route.ts'

/** What a handler needs. */
export interface HandlerParts {
  api: ApiName
  operations: readonly AnyOperation[]
  sessions: Pick<Sessions, 'check'>
  faults: FaultRules
  observer: RequestObserver
  log: Log
  answers: AnswerWriter
}

/** One request on its way to its answer. */
interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  /** performance.now() at its head. */
  started: number
  at: number
  path: string
  route: Route | undefined
  parameters: Parameters
  callback: string | undefined
  credential: string
  room: string
  close: boolean
  /** The body was not read to its end. */
  unread: boolean
}

const nothing: Parameters = new Map()

/** Answers requests to one API's operations: the checks in the contract's order, then the operation, then one error funnel. */
export class RequestHandler {
  readonly #api: ApiName
  readonly #parts: HandlerParts
  readonly #routes: ReadonlyMap<string, Route>
  readonly #underWay = new Set<Exchange>()
  #whenIdle: (() => void) | undefined

  constructor(parts: HandlerParts) {
    this.#api = parts.api
    this.#parts = parts
    this.#routes = new Map(parts.operations.map((operation) => [operation.contract.path, makeRoute(operation)]))
  }

  /** Whether an operation has this path. */
  knows(path: string): boolean {
    return this.#routes.has(path)
  }

  /** Answers a request. `target` is its request target in origin form, one character per byte. Never throws. */
  handle(request: IncomingMessage, response: ServerResponse, target: string): void {
    try {
      this.#handle(request, response, target)
    } catch (error) {
      this.refuseUnforeseen(request, response, error)
    }
  }

  #handle(request: IncomingMessage, response: ServerResponse, target: string): void {
    const started = performance.now()
    const question = target.indexOf('?')
    const path = question === -1 ? target : target.slice(0, question)
    const exchange: Exchange = {
      request,
      response,
      started,
      at: Date.now(),
      path,
      route: this.#routes.get(path),
      parameters: nothing,
      callback: undefined,
      credential: '',
      room: '',
      close: false,
      unread: false,
    }
    if (target.length > limits.requestTarget) {
      exchange.close = true
      this.#fail(exchange, 'parameter', `The request target is longer than ${limits.requestTarget} bytes.`)
      return
    }
    const { parameters, problem } = readParameters(question === -1 ? '' : target.slice(question + 1))
    exchange.parameters = parameters
    const hasBody = announcesBody(request.rawHeaders)
    const callbackProblem = this.#readCallback(exchange)
    const { route } = exchange
    if (!route?.methods.includes(request.method ?? '')) {
      exchange.unread = hasBody
      this.#refusePathOrMethod(exchange)
    } else if (hasBody) {
      void this.#track(exchange, this.#performWithBody(exchange, route, problem ?? callbackProblem))
    } else {
      void this.#perform(exchange, route, problem ?? callbackProblem)
    }
  }

  /** Answers a request that no operation of this API may see, such as one that is not HTTP, and returns the JSON text for it. */
  refuseMalformed(client: string, error: ErrorName, message: string): string {
    const ret = numberOf(this.#api, error)
    this.#parts.observer.observe({
      at: Date.now(),
      api: this.#api,
      operation: '',
      method: '',
      path: '',
      ret,
      duration: 0,
      client,
      credential: '',
      room: '',
      params: nothing,
      msg: message,
      reason: '',
    })
    return failureText(ret, message)
  }

  /** Answers a request whose target is neither a path nor a URL. */
  refuseTarget(request: IncomingMessage, response: ServerResponse): void {
    const text = this.refuseMalformed(clientAddress(request), 'parameter', 'The request target is malformed.')
    this.#parts.answers.write(request, response, text, { callback: undefined, close: true })
  }

  /** An error that came from outside an operation: logged whole, answered generically. */
  refuseUnforeseen(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    this.#parts.log.error({ err: error, api: this.#api }, 'a request failed')
    this.answerUnforeseen(request, response)
  }

  /** Answers what is logged already. */
  answerUnforeseen(request: IncomingMessage, response: ServerResponse): void {
    const text = failureText(numberOf(this.#api, 'internal'), resultCodes.internal.message)
    if (!response.headersSent) this.#parts.answers.write(request, response, text, { callback: undefined, close: true })
  }

  /** Whether this socket has a request under way, so that it must not be cut. */
  busy(socket: unknown): boolean {
    for (const exchange of this.#underWay) if (exchange.request.socket === socket) return true
    return false
  }

  /** The answer that is being worked on for a request that came whole on this socket. */
  pendingAnswer(socket: unknown): ServerResponse | undefined {
    for (const { request, response } of this.#underWay) {
      if (request.socket === socket && request.complete) return response
    }
    return undefined
  }

  /** Resolves when nothing is under way. */
  idle(): Promise<void> {
    if (this.#underWay.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenIdle = resolve
    })
  }

  /** Takes the callback of a JSONP request. A request without Accept gets plain JSON (field). Returns what is wrong with it. */
  #readCallback(exchange: Exchange): string | undefined {
    const callback = exchange.parameters.get('callback')
    if (callback === undefined) return undefined
    if (typeof callback !== 'string' || !isCallback(callback)) {
      return `callback must be a plain identifier path of at most ${limits.callback} characters.`
    }
    if (exchange.request.headers.accept !== undefined) exchange.callback = callback
    return undefined
  }

  #refusePathOrMethod(exchange: Exchange): void {
    const { request, route } = exchange
    if (route === undefined) {
      if (request.method === 'OPTIONS' && isPreflight(request)) this.#preflight(exchange)
      else this.#fail(exchange, 'notSupported', `There is no ${plainPath(exchange.path)} on the ${this.#api} API.`)
    } else if (request.method === 'OPTIONS' && isPreflight(request)) {
      this.#preflight(exchange)
    } else {
      const methods = route.methods.join(' or ')
      this.#fail(exchange, 'notSupported', `${request.method} is not supported for ${exchange.path}: use ${methods}.`)
    }
  }

  #preflight(exchange: Exchange): void {
    this.#parts.answers.writePreflight(exchange.request, exchange.response)
  }

  async #performWithBody(exchange: Exchange, route: Route, problem: string | undefined): Promise<void> {
    let body: Buffer | 'tooLarge'
    try {
      body = await readBody(exchange.request, limits.requestBody)
    } catch (error) {
      if (error instanceof ClientGone) return
      throw error
    }
    if (body === 'tooLarge') {
      exchange.unread = true
      this.#fail(exchange, 'parameter', `The request body is longer than ${limits.requestBody} bytes.`)
      return
    }
    // The media API knows no bodies: one that comes along is read and left (every operation is a GET).
    const bodyProblem =
      this.#api === 'device' ? readBodyParameters(exchange.request, body, exchange.parameters) : undefined
    await this.#perform(exchange, route, problem ?? bodyProblem)
  }

  /** The checks after path and method, then the operation. A promise only when something had to be waited for. */
  #perform(exchange: Exchange, route: Route, problem: string | undefined): void | Promise<void> {
    const { parameters } = exchange
    exchange.room = route.room(parameters, undefined)
    if (!route.guarded) exchange.credential = boundedText(parameters.get('access_key'))
    if (problem !== undefined) return this.#fail(exchange, 'parameter', problem)
    const parsed = route.parse(parameters)
    if (!parsed.ok) return this.#fail(exchange, 'parameter', parsed.problem.message)
    if (route.guarded) {
      const session = this.#parts.sessions.check(route.token(parameters))
      if (!session.ok) return this.#fail(exchange, 'tokenIncorrect', undefined, session.reason)
      exchange.credential = session.accessKey
    }
    if (this.#parts.faults.active) {
      const fault = this.#parts.faults.hit(route.name)
      if (fault !== undefined) return this.#track(exchange, this.#suffer(exchange, route, parsed.params, fault))
    }
    return this.#run(exchange, route, parsed.params)
  }

  #run(exchange: Exchange, route: Route, params: unknown): void | Promise<void> {
    try {
      const accessKey = route.guarded ? exchange.credential : ''
      const result = route.run(params, { client: clientAddress(exchange.request), accessKey })
      if (!(result instanceof Promise)) return this.#succeed(exchange, result)
      const answered = result.then(
        (value) => this.#succeed(exchange, value),
        (error: unknown) => this.#failWith(exchange, error),
      )
      return this.#track(exchange, answered)
    } catch (error) {
      return this.#failWith(exchange, error)
    }
  }

  /** A fault rule of the lab hit. */
  async #suffer(exchange: Exchange, route: Route, params: unknown, fault: Fault): Promise<void> {
    if (fault.delay > 0) await new Promise<void>((resolve) => setTimeout(resolve, fault.delay).unref())
    if (fault.drop) {
      exchange.request.socket.destroy()
      return
    }
    if (fault.ret === null) return this.#run(exchange, route, params)
    const message = 'A fault rule of the lab gave this answer.'
    this.#answer(exchange, failureText(fault.ret, message), fault.ret, message, '')
  }

  /** Remembers what is under way, so that a stop can wait for it. */
  #track(exchange: Exchange, work: void | Promise<void>): void | Promise<void> {
    if (!(work instanceof Promise) || this.#underWay.has(exchange)) return work
    this.#underWay.add(exchange)
    return work
      .catch((error: unknown) => this.#failWith(exchange, error))
      .finally(() => {
        this.#underWay.delete(exchange)
        if (this.#underWay.size === 0) this.#whenIdle?.()
      })
  }

  #succeed(exchange: Exchange, result: unknown): void {
    let text: string
    try {
      text = successText(result)
    } catch (error) {
      return this.#failWith(exchange, error)
    }
    if (exchange.room === '') exchange.room = exchange.route?.room(exchange.parameters, result) ?? ''
    this.#answer(exchange, text, success, '', '')
  }

  /** The error funnel: a known error carries its code; an unknown one is logged whole and answered generically. */
  #failWith(exchange: Exchange, error: unknown): void {
    if (error instanceof ApiError && error.code !== 'internal' && retOf(this.#api, error.code) !== undefined) {
      return this.#fail(exchange, error.code, error.message, error.reason)
    }
    const operation = exchange.route?.name ?? ''
    this.#parts.log.error({ err: error, api: this.#api, operation }, 'an operation failed')
    // A disk that refuses has no number of its own on the device API, but the caller may know that nothing was changed.
    const storage = error instanceof ApiError && error.code === 'storage'
    const message = storage ? error.message : resultCodes.internal.message
    this.#fail(exchange, exchange.route?.unforeseen ?? 'internal', message)
  }

  #fail(exchange: Exchange, error: ErrorName, message = resultCodes[error].message, reason = ''): void {
    const ret = numberOf(this.#api, error)
    this.#answer(exchange, failureText(ret, message), ret, message, reason)
  }

  #answer(exchange: Exchange, text: string, ret: number, msg: string, reason: string): void {
    const { request, response, route } = exchange
    if (exchange.unread) this.#parts.answers.writeAndDrain(request, response, text)
    else if (!response.headersSent) this.#parts.answers.write(request, response, text, exchange)
    this.#parts.observer.observe({
      at: exchange.at,
      api: this.#api,
      operation: route?.name ?? '',
      method: request.method ?? '',
      path: exchange.path,
      ret,
      duration: performance.now() - exchange.started,
      client: clientAddress(request),
      credential: exchange.credential,
      room: exchange.room,
      params: exchange.parameters,
      msg,
      reason,
    })
  }
}

/** The `ret` of an error; one without a number on this API is answered as its generic failure. */
function numberOf(api: ApiName, error: ErrorName): number {
  const ret = retOf(api, error) ?? retOf(api, api === 'media' ? 'internal' : 'listUnavailable')
  if (ret === undefined) throw new TypeError(`the ${api} API has no generic failure`)
  return ret
}

function successText(result: unknown): string {
  const text = JSON.stringify(result)
  return text === '{}' ? '{"ret":0}' : `{"ret":0,${text.slice(1)}`
}

function failureText(ret: number, message: string): string {
  return JSON.stringify({ ret, msg: message })
}

function isPreflight(request: IncomingMessage): boolean {
  return request.headers['access-control-request-method'] !== undefined
}

/** A path as a message may name it: printable ASCII, bounded. */
function plainPath(path: string): string {
  const shown = path.replace(/[^\x21-\x7e]/g, '?')
  return shown.length > 100 ? `${shown.slice(0, 100)}…` : shown
}

function boundedText(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, limits.accessKey) : ''
}
