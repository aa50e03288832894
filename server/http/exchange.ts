import type { IncomingMessage, ServerResponse } from 'node:http'
import { devicePathPrefix } from '../../shared/field-operations.ts'
import type { ApiName } from '../../shared/result-codes.ts'
import type { ChangeCause } from '../store/change-cause.ts'
import { announcesBody } from './body.ts'
import type { ApiCaller } from './operation.ts'
import { type Parameters, readParameters } from './parameters.ts'
import type { RouteTable } from './route-tables.ts'
import type { Route } from './route.ts'

/** One request until its answer: its parsed parts and the results of checks. */
export interface ApiExchange {
  request: IncomingMessage
  response: ServerResponse
  /** performance.now() when its headers were received. */
  started: number
  /** Milliseconds since the epoch when its headers were received. */
  at: number
  /** Length of its target, in bytes. */
  targetLength: number
  path: string
  /** API whose error numbers apply. */
  api: ApiName
  /** Whether clients of the original platform are served. */
  older: boolean
  /** Undefined: no operation has this path. */
  route: Route | undefined
  hasBody: boolean
  /** Its complete body; undefined: not read yet, or no body. */
  body: Buffer | undefined
  parameters: Parameters
  /** First problem found while reading the parameters. */
  problem: string | undefined
  /** Parameters parsed by the operation's schema. */
  params: unknown
  /** JSONP callback that wraps the answer; undefined: plain JSON. */
  callback: string | undefined
  /** Set while its operation runs, if the operation has an effect. */
  cause: OperationCause | undefined
  /** access_key; empty: unknown. */
  credential: string
  /** room_id or roomId; empty: unknown. */
  room: string
  /** Whether the connection is closed after the answer. */
  close: boolean
  /** Whether the body was not read to its end. */
  unread: boolean
}

/** A call of an operation that changes or creates something. */
export interface OperationCause extends ChangeCause {
  /** Whether its event was part of a transaction; otherwise the event is logged after the answer. */
  readonly isRecorded: boolean
}

/** Creates the causes of changes by operations. On the hot path. */
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
