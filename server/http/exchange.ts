import type { IncomingMessage, ServerResponse } from 'node:http'
import { devicePathPrefix } from '../../shared/field-operations.ts'
import type { ApiName } from '../../shared/result-codes.ts'
import type { ChangeCause } from '../store/change-cause.ts'
import { announcesBody } from './body.ts'
import type { ApiCaller } from './operation.ts'
import { type Parameters, readParameters } from './parameters.ts'
import type { Route, RouteTable } from './routes.ts'

/** One request until it is answered: its parsed parts and the results of checks. */
export interface ApiExchange {
  request: IncomingMessage
  response: ServerResponse
  /** Time at which the headers were received, in milliseconds of performance.now(). */
  started: number
  /** Time at which the headers were received, in milliseconds since the epoch. */
  at: number
  /** Length of the request target, in bytes. */
  targetLength: number
  path: string
  /** API whose error numbers apply. */
  api: ApiName
  /** Whether clients of the original platform are served. */
  older: boolean
  /** Route of the operation; undefined: no operation has this path. */
  route: Route | undefined
  hasBody: boolean
  /** Complete body of the request; undefined: not read yet, or no body. */
  body: Buffer | undefined
  parameters: Parameters
  /** First problem found while reading the parameters. */
  problem: string | undefined
  /** Parameters parsed by the operation's schema. */
  params: unknown
  /** JSONP callback that wraps the answer; undefined: plain JSON. */
  callback: string | undefined
  /** Cause of changes by the running operation; undefined: no operation is running, or the operation has no effect. */
  cause: OperationCause | undefined
  /** access_key of the caller; empty: unknown. */
  credential: string
  /** room_id or roomId of the request; empty: unknown. */
  room: string
  /** Whether the connection is closed after the answer. */
  close: boolean
  /** Whether the body was not read to its end. */
  unread: boolean
}

/** A call of an operation that changes or creates something. */
export interface OperationCause extends ChangeCause {
  /** Whether the event of the call was part of a transaction; otherwise the event is logged after the answer. */
  readonly isRecorded: boolean
}

/** Creates the causes of changes by operations. Runs for every request, so it must be fast. */
export interface OperationCauses {
  /** @returns undefined: the operation has no effect, or a flood is in progress, of which only the count is logged */
  of(
    operation: string,
    exchange: Pick<ApiExchange, 'room' | 'parameters'>,
    caller: ApiCaller,
  ): OperationCause | undefined
}

export const noParameters: Parameters = new Map()

/**
 * Parses the headers of a request.
 * @param target target in origin form, one character per byte
 * @param api API of the listener
 * @param maxBytes maximum length of a target that is parsed, in bytes
 */
export function readRequestHead(
  request: IncomingMessage,
  response: ServerResponse,
  target: string,
  api: ApiName,
  { older, routes }: RouteTable,
  maxBytes: number,
): ApiExchange {
  const started = performance.now()
  const question = target.indexOf('?')
  const path = question === -1 ? target : target.slice(0, question)
  const query = question === -1 || target.length > maxBytes ? '' : target.slice(question + 1)
  const { parameters, problem } = readParameters(query)
  const route = routes.get(path)
  return {
    request,
    response,
    started,
    at: Date.now(),
    targetLength: target.length,
    path,
    api: route?.api ?? (older && path.startsWith(devicePathPrefix) ? 'device' : api),
    older,
    route,
    hasBody: announcesBody(request.rawHeaders),
    body: undefined,
    parameters,
    problem,
    params: undefined,
    callback: undefined,
    cause: undefined,
    credential: '',
    room: '',
    close: false,
    unread: false,
  }
}
