import type { IncomingMessage, ServerResponse } from 'node:http'
import { limits } from '../../shared/limits.ts'
import type { OperationContract } from '../../shared/operation.ts'
import { ApiError, type ApiName } from '../../shared/result-codes.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { Sessions } from '../access/sessions.ts'
import { clientAddress } from '../edge/client-address.ts'
import { causedBy } from '../store/change-cause.ts'
import type { Leadership } from '../store/store.ts'
import { AnswerFunnel, type AnswerFunnelDependencies } from './answer-funnel.ts'
import { ClientGone } from './body.ts'
import {
  checkBody,
  checkParameters,
  checkTargetLength,
  checkToken,
  isPreflight,
  knownRoute,
  readCallback,
  refuseRoute,
} from './checks.ts'
import { type ApiExchange, type OperationCauses, readRequestHead } from './exchange.ts'
import type { AnyOperation } from './operation.ts'
import { type Compatibility, type Route, type RouteTable, routeTables } from './routes.ts'

export interface HandlerDependencies extends Omit<AnswerFunnelDependencies, 'older'> {
  operations: readonly AnyOperation[]
  compatibility?: Compatibility
  sessions: Pick<Sessions, 'check'>
  causes: OperationCauses
  /** Leadership, confirmed before each operation, because answers come from memory. */
  leadership: Pick<Leadership, 'confirmed'>
  /** Forwards a request that another controller must answer; undefined: no other controller can lead. */
  passToLeader?: PassToLeader | undefined
}

/**
 * Forwards a request to the leader, unless this controller may have executed a part of it.
 * @param body complete body of the request; undefined: no body
 * @param error error of the request on this controller; undefined: the request was not started
 * @returns undefined: this controller must answer the request; otherwise whether the request was answered
 */
export type PassToLeader = (
  request: IncomingMessage,
  response: ServerResponse,
  from: { listener: ApiName; safe: boolean; error: unknown; body: Buffer | undefined },
) => Promise<boolean> | undefined

/**
 * Runs the operation of a request that has passed the checks, and answers. Returns a promise only for asynchronous
 * work.
 */
export type OperationRunner = (exchange: ApiExchange, route: Route) => void | Promise<void>

/** Wraps the runner of an API's operations. `funnel` sends answers that replace the operation's own. */
export type RunnerDecorator = (
  run: OperationRunner,
  funnel: Pick<AnswerFunnel, 'answerCode' | 'drop'>,
) => OperationRunner

/**
 * Answers requests to one API's operations. The contract (section 1) defines the order of checks: path and method,
 * parameters, token. The operation then checks permission and licence, the room, and whether the room is closed, before
 * its own checks.
 */
export class RequestHandler {
  readonly #api: ApiName
  readonly #dependencies: HandlerDependencies
  readonly #table: () => RouteTable
  readonly #underWay = new RequestsUnderWay()
  readonly #runOperation: OperationRunner = (exchange, route) => this.#runUndecorated(exchange, route)
  /** `#runOperation`, or its decoration. */
  #run = this.#runOperation
  /** Sends all answers, including refusals. */
  readonly funnel: AnswerFunnel

  constructor(dependencies: HandlerDependencies) {
    this.#api = dependencies.api
    this.#dependencies = dependencies
    this.#table = routeTables(dependencies.operations, dependencies.compatibility)
    this.funnel = new AnswerFunnel({ ...dependencies, older: () => this.#table().older })
  }

  /** Decorates the runner of the operations for later requests. @param decorator undefined: removes the decoration */
  decorate(decorator: RunnerDecorator | undefined): void {
    this.#run = decorator?.(this.#runOperation, this.funnel) ?? this.#runOperation
  }

  /** Contracts of the current operations. */
  get contracts(): readonly OperationContract[] {
    return this.#table().contracts
  }

  /** Whether `handle` answers this target: an operation has its path, or the target is too long. */
  takes(target: string): boolean {
    const question = target.indexOf('?')
    const path = question === -1 ? target : target.slice(0, question)
    return target.length > limits.requestTarget || this.#table().routes.has(path)
  }

  /** Answers a request. `target` is its request target in origin form, one character per byte. Never throws. */
  handle(request: IncomingMessage, response: ServerResponse, target: string): void {
    try {
      this.#handle(readRequestHead(request, response, target, this.#api, this.#table(), limits.requestTarget))
    } catch (error) {
      this.funnel.refuseUnexpected(request, response, error)
    }
  }

  /** Returns the unfinished answer to a complete request on this socket. */
  pendingAnswer(socket: unknown): ServerResponse | undefined {
    return this.#underWay.pendingAnswer(socket)
  }

  /** Resolves when no request is under way. */
  idle(): Promise<void> {
    return this.#underWay.idle()
  }

  #handle(exchange: ApiExchange): void {
    const tooLong = checkTargetLength(exchange)
    if (tooLong !== undefined) return this.funnel.refuse(exchange, tooLong)
    readCallback(exchange)
    const route = knownRoute(exchange)
    if (route === undefined) {
      exchange.unread = exchange.hasBody
      if (isPreflight(exchange)) this.funnel.preflight(exchange)
      else this.funnel.refuse(exchange, refuseRoute(exchange))
    } else if (exchange.hasBody) mustNotFail(this.#track(exchange, this.#performWithBody(exchange, route)))
    else mustNotFail(this.#perform(exchange, route))
  }

  async #performWithBody(exchange: ApiExchange, route: Route): Promise<void> {
    try {
      const refusal = await checkBody(exchange)
      if (refusal !== undefined) return this.funnel.refuse(exchange, refusal)
    } catch (error) {
      // The client has disconnected.
      if (error instanceof ClientGone) return
      throw error
    }
    await this.#perform(exchange, route)
  }

  /** Runs the checks after path and method, then the operation. Returns a promise only for asynchronous work. */
  #perform(exchange: ApiExchange, route: Route): void | Promise<void> {
    const unsure = this.#dependencies.leadership.confirmed()
    if (!(unsure instanceof Promise)) return this.#operate(exchange, route)
    const performed = unsure.then(
      () => this.#operate(exchange, route),
      (error: unknown) => {
        // An ApiError does not prove that another controller leads.
        if (error instanceof ApiError) return this.funnel.failWith(exchange, error)
        const refuse = (): void =>
          this.funnel.refuseUnstored(exchange, 'Another controller leads this site now: try again.')
        return this.#passToLeader(exchange, route, undefined, refuse)
      },
    )
    return this.#track(exchange, performed)
  }

  #operate(exchange: ApiExchange, route: Route): void | Promise<void> {
    const refusal = checkParameters(exchange, route) ?? checkToken(exchange, route, this.#dependencies.sessions)
    if (refusal !== undefined) return this.funnel.refuse(exchange, refusal)
    const work = this.#run(exchange, route)
    if (work instanceof Promise) return this.#track(exchange, work)
  }

  #runUndecorated(exchange: ApiExchange, route: Route): void | Promise<void> {
    try {
      const accessKey = route.guarded ? exchange.credential : ''
      const caller = { client: clientAddress(exchange.request), accessKey }
      exchange.cause = this.#dependencies.causes.of(route.name, exchange, caller)
      const run = (): unknown => route.run(exchange.params, caller)
      const result = exchange.cause === undefined ? run() : causedBy(exchange.cause, run)
      if (!(result instanceof Promise)) return this.funnel.succeed(exchange, result)
      return result.then(
        (value) => this.funnel.succeed(exchange, value),
        (error: unknown) => this.#passToLeader(exchange, route, error, () => this.funnel.failWith(exchange, error)),
      )
    } catch (error) {
      return this.funnel.failWith(exchange, error)
    }
  }

  #passToLeader(exchange: ApiExchange, route: Route, error: unknown, orElse: () => void): void | Promise<void> {
    const { request, response, body } = exchange
    const from = { listener: this.#api, safe: route.safe, error, body }
    const passed = this.#dependencies.passToLeader?.(request, response, from)
    if (passed === undefined) return orElse()
    return passed.then((answered) => {
      if (!answered) orElse()
    })
  }

  #track(exchange: ApiExchange, work: Promise<void>): Promise<void> {
    return this.#underWay.track(exchange.response, work, (error) => this.funnel.failWith(exchange, error))
  }
}

/** Requests whose answers are pending, so that a stop can wait for them. */
export class RequestsUnderWay {
  readonly #responses = new Set<ServerResponse>()
  #whenIdle: (() => void) | undefined

  /** Tracks the request of an answer until its work is done. @param failed called with the error of the work */
  track(response: ServerResponse, work: Promise<void>, failed: (error: unknown) => void): Promise<void> {
    if (this.#responses.has(response)) return work
    this.#responses.add(response)
    return work.catch(failed).finally(() => {
      this.#responses.delete(response)
      if (this.#responses.size === 0) this.#whenIdle?.()
    })
  }

  /** Returns the unfinished answer to a complete request on this socket. */
  pendingAnswer(socket: unknown): ServerResponse | undefined {
    for (const response of this.#responses) {
      if (response.req.socket === socket && response.req.complete) return response
    }
    return undefined
  }

  /** Resolves when no request is under way. */
  idle(): Promise<void> {
    if (this.#responses.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenIdle = resolve
    })
  }
}
