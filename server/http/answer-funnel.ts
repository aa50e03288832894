import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError, type ApiName, type ErrorName, retOf, sentenceOf, success } from '../../shared/result-codes.ts'
import { clientAddress } from '../edge/client-address.ts'
import type { Log } from '../observe/log.ts'
import type { Observation, RequestObserver } from '../observe/observation.ts'
import type { AnswerWriter } from './answer.ts'
import type { RequestRefusal } from './checks.ts'
import { type ApiExchange, noParameters } from './exchange.ts'

export interface AnswerFunnelDependencies {
  api: ApiName
  observer: RequestObserver
  log: Log
  answers: AnswerWriter
  /** Whether clients of the original platform are served now. */
  older: () => boolean
}

/** Makes, writes and observes every answer of an API. */
export class AnswerFunnel {
  readonly #api: ApiName
  readonly #dependencies: AnswerFunnelDependencies

  constructor(dependencies: AnswerFunnelDependencies) {
    this.#api = dependencies.api
    this.#dependencies = dependencies
  }

  succeed(exchange: ApiExchange, result: unknown): void {
    let text: string
    try {
      text = successText(result, hasBothPairs(exchange))
    } catch (error) {
      return this.failWith(exchange, error)
    }
    if (exchange.room === '') exchange.room = exchange.route?.room(exchange.parameters, result) ?? ''
    this.#answer(exchange, text, success, '', '')
  }

  refuse(exchange: ApiExchange, { error, message = sentenceOf(error), reason = '' }: RequestRefusal): void {
    this.#fail(exchange, numberOf(exchange.api, error), message, reason)
  }

  /**
   * Answers an error of an operation. A known error has its own code; an unknown one is logged in full and answered
   * generically.
   */
  failWith(exchange: ApiExchange, error: unknown): void {
    if (error instanceof ApiError && error.code !== 'internal' && retOf(exchange.api, error.code) !== undefined) {
      const { code, message, reason = '' } = error
      return this.refuse(exchange, { error: code, message, reason })
    }
    const operation = exchange.route?.name ?? ''
    this.#dependencies.log.error({ err: error, api: exchange.api, operation }, 'an operation failed')
    // The device API has no number for storage errors; the message says whether the change may have been stored.
    if (error instanceof ApiError && error.code === 'storage') return this.refuseUnstored(exchange, error.message)
    this.refuse(exchange, { error: exchange.route?.unexpected ?? 'internal', message: sentenceOf('internal') })
  }

  /**
   * Answers that a change could not be stored, or that the outcome is unknown. The device API has no separate number
   * for that.
   */
  refuseUnstored(exchange: ApiExchange, message: string): void {
    const known = retOf(exchange.api, 'storage') !== undefined
    this.refuse(exchange, { error: known ? 'storage' : (exchange.route?.unexpected ?? 'internal'), message })
  }

  /** Answers with this `ret`. */
  answerCode(exchange: ApiExchange, ret: number, message: string): void {
    this.#fail(exchange, ret, message, '')
  }

  /** Closes the connection without an answer. */
  drop(exchange: ApiExchange): void {
    exchange.request.socket.destroy()
    this.#dependencies.observer.observeDropped?.(observationOf(exchange, success, '', ''))
  }

  preflight({ request, response, api }: ApiExchange): void {
    this.#dependencies.answers.writePreflight(request, response, api)
  }

  /**
   * Observes a request that no operation can handle, such as one that is not HTTP, and returns the JSON text of its
   * answer.
   */
  refuseMalformed(client: string, error: ErrorName, message: string): string {
    const ret = numberOf(this.#api, error)
    const text = failureText(ret, message, this.#api === 'device' && this.#dependencies.older())
    this.#dependencies.observer.observe({
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
      params: noParameters,
      msg: message,
      reason: '',
      text,
    })
    return text
  }

  /** Answers a request whose target is neither a path nor a URL. */
  refuseTarget(request: IncomingMessage, response: ServerResponse): void {
    const text = this.refuseMalformed(clientAddress(request), 'parameter', 'The request target is malformed.')
    this.#dependencies.answers.write(request, response, text, { callback: undefined, close: true })
  }

  /** Logs an error from outside an operation in full, and answers generically. */
  refuseUnexpected(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    this.#dependencies.log.error({ err: error, api: this.#api }, 'a request failed')
    this.answerUnexpected(request, response)
  }

  /** Answers a request whose error is logged already. */
  answerUnexpected(request: IncomingMessage, response: ServerResponse): void {
    const both = this.#api === 'device' && this.#dependencies.older()
    const text = failureText(numberOf(this.#api, 'internal'), sentenceOf('internal'), both)
    if (!response.headersSent)
      this.#dependencies.answers.write(request, response, text, { callback: undefined, close: true })
  }

  #fail(exchange: ApiExchange, ret: number, message: string, reason: string): void {
    this.#answer(exchange, failureText(ret, message, hasBothPairs(exchange)), ret, message, reason)
  }

  #answer(exchange: ApiExchange, text: string, ret: number, msg: string, reason: string): void {
    const { request, response } = exchange
    if (exchange.unread) this.#dependencies.answers.writeAndDrain(request, response, text)
    else if (!response.headersSent) this.#dependencies.answers.write(request, response, text, exchange)
    this.#dependencies.observer.observe(observationOf(exchange, ret, msg, reason, text))
  }
}

/** Runs for every request, so it must be fast. */
function observationOf(exchange: ApiExchange, ret: number, msg: string, reason: string, text?: string): Observation {
  const { request, route } = exchange
  return {
    at: exchange.at,
    api: exchange.api,
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
    isRecorded: exchange.cause?.isRecorded,
    olderOnly: route?.olderOnly,
    text,
    forOlderClients: route?.forOlderClients === true || hasBothPairs(exchange),
    request,
  }
}

/** Returns the `ret` of an error; an error without a number on this API gets the number of the generic failure. */
function numberOf(api: ApiName, error: ErrorName): number {
  const ret = retOf(api, error) ?? retOf(api, api === 'media' ? 'internal' : 'listUnavailable')
  if (ret === undefined) throw new TypeError(`the ${api} API has no generic failure`)
  return ret
}

/**
 * Whether an answer has both pairs of fields: clients of the original platform read the device API's answers under
 * other names (contract, section 5).
 */
function hasBothPairs({ older, api }: ApiExchange): boolean {
  return older && api === 'device'
}

function successText(result: unknown, both: boolean): string {
  const text = JSON.stringify(result)
  const head = both ? '{"ret":0,"msg":"","result":0,"err":""' : '{"ret":0'
  return text === '{}' ? `${head}}` : `${head},${text.slice(1)}`
}

function failureText(ret: number, message: string, both: boolean): string {
  return JSON.stringify(both ? { ret, msg: message, result: ret, err: message } : { ret, msg: message })
}
