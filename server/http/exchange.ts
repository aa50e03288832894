import type { IncomingMessage, ServerResponse } from 'node:http'
import { devicePathPrefix } from '../../shared/field-operations.ts'
import type { ApiName } from '../../shared/result-codes.ts'
import type { ChangeCause } from '../store/change-cause.ts'
import { announcesBody } from './body.ts'
import type { Caller } from './operation.ts'
import { type Parameters, readParameters } from './parameters.ts'
import type { RouteTable } from './route-tables.ts'
import type { Route } from './route.ts'

/** One request on its way to its answer: what was read of it, and what the checks found out. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  /** performance.now() at its head. */
  started: number
  /** Milliseconds since the epoch at its head. */
  at: number
  /** Length of its target, in bytes. */
  targetLength: number
  path: string
  /** The API whose numbers answer it. */
  api: ApiName
  /** Clients of the original platform are served. */
  older: boolean
  /** Undefined: no operation has this path. */
  route: Route | undefined
  hasBody: boolean
  /** Its body, once that was read whole; undefined until then, and without one. */
  body: Buffer | undefined
  parameters: Parameters
  /** First problem of the parameters that reading found. */
  problem: string | undefined
  /** As the operation's schema made them of the parameters. */
  params: unknown
  /** The answer is wrapped in it; undefined is plain JSON. */
  callback: string | undefined
  /** Set while its operation runs, if that has an effect. */
  cause: OperationCause | undefined
  /** access_key, if known. */
  credential: string
  /** room_id or roomId, if known. */
  room: string
  /** The connection closes after the answer. */
  close: boolean
  /** The body was not read to its end. */
  unread: boolean
}

/** A call of an operation that changes or makes something. */
export interface OperationCause extends ChangeCause {
  /** Whether its event was part of a transaction; otherwise the event follows the answer. */
  readonly isRecorded: boolean
}

/** Makes the causes of the changes that operations store. On the hot path. */
export interface OperationCauses {
  /** @returns undefined for an operation without an effect, and in a flood, of which only the number is logged */
  of(operation: string, exchange: Pick<Exchange, 'room' | 'parameters'>, caller: Caller): OperationCause | undefined
}

/** No parameters at all. */
export const noParameters: Parameters = new Map()

/**
 * Reads the head of a request.
 * @param target in origin form, one character per byte
 * @param api of the listener
 * @param longest bytes of a target that is looked into
 */
export function readHead(
  request: IncomingMessage,
  response: ServerResponse,
  target: string,
  api: ApiName,
  { older, routes }: RouteTable,
  longest: number,
): Exchange {
  const started = performance.now()
  const question = target.indexOf('?')
  const path = question === -1 ? target : target.slice(0, question)
  const query = question === -1 || target.length > longest ? '' : target.slice(question + 1)
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
