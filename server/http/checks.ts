import { limits } from '../../shared/limits.ts'
import type { ErrorName } from '../../shared/result-codes.ts'
import type { Sessions } from '../access/sessions.ts'
import { readRequestBody, readBodyParameters } from './body.ts'
import type { ApiExchange } from './exchange.ts'
import { isCallback } from './answer.ts'
import { callbackName } from './parameters.ts'
import type { Route } from './routes.ts'

/** Checks the token. Sets `credential` if the operation requires one. */
export function checkToken(
  exchange: ApiExchange,
  route: Route,
  sessions: Pick<Sessions, 'check'>,
): RequestRefusal | undefined {
  if (!route.guarded) return undefined
  const session = sessions.check(route.token(exchange.parameters))
  if (!session.ok) return { error: 'tokenIncorrect', reason: session.reason }
  exchange.credential = session.accessKey
  return undefined
}

export interface RequestRefusal {
  error: ErrorName
  /** Message for the caller; undefined: the default message of the error. */
  message?: string
  /** Details for the operator only. */
  reason?: string
}

/**
 * Reads the body of a request and, on the device API, its parameters. On the media API every operation is a GET: a body
 * is read and ignored.
 * @throws ClientGone
 */
export async function checkBody(exchange: ApiExchange): Promise<RequestRefusal | undefined> {
  const body = await readRequestBody(exchange.request, limits.requestBody)
  if (body === 'tooLarge') {
    exchange.unread = true
    return { error: 'parameter', message: `The request body is longer than ${limits.requestBody} bytes.` }
  }
  exchange.body = body
  if (exchange.api === 'device') {
    const problem = readBodyParameters(exchange.request, body, exchange.parameters)
    exchange.problem ??= problem
  }
  return undefined
}

/**
 * Reads the callback of a JSONP request. The callback wraps every later answer, including refusals. A request without
 * an Accept header gets plain JSON (field experience). A malformed callback is reported as a parameter error by the
 * later check.
 */
export function readCallback(exchange: ApiExchange): void {
  const callback = exchange.parameters.get(callbackName)
  if (callback === undefined || callback === '') return
  if (typeof callback !== 'string' || !isCallback(callback)) {
    exchange.problem ??= `callback must be a plain identifier path of at most ${limits.callback} characters.`
  } else if (exchange.request.headers.accept !== undefined) exchange.callback = callback
}

/** Checks the parameters by the operation's schema. Sets `params`. */
export function checkParameters(exchange: ApiExchange, route: Route): RequestRefusal | undefined {
  const { parameters, problem } = exchange
  exchange.room = route.room(parameters, undefined)
  if (!route.guarded) exchange.credential = boundedText(parameters.get(route.credentialName))
  if (problem !== undefined) return { error: 'parameter', message: problem }
  const parsed = route.parse(parameters)
  if (!parsed.ok) return { error: 'parameter', message: parsed.problem.message }
  exchange.params = parsed.params
  return undefined
}

function boundedText(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, limits.accessKey) : ''
}

/** Returns the route of an exchange if it accepts the method of the request; otherwise undefined. */
export function knownRoute({ route, request }: ApiExchange): Route | undefined {
  return route?.methods.includes(request.method ?? '') ? route : undefined
}

/** Whether the request is a CORS preflight for any path: the actual request is refused if the path is unknown. */
export function isPreflight({ request }: ApiExchange): boolean {
  return request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
}

/** Returns the refusal of a request that matches no route. */
export function refuseRoute({ api, request, route, path }: ApiExchange): RequestRefusal {
  if (route === undefined)
    return { error: 'notSupported', message: `There is no ${plainPath(path)} on the ${api} API.` }
  const message = `${request.method} is not supported for ${path}: use ${route.methods.join(' or ')}.`
  return { error: 'notSupported', message }
}

/** Formats a path for a message: printable ASCII, with limited length. */
function plainPath(path: string): string {
  const shown = path.replace(/[^\x21-\x7e]/g, '?')
  return shown.length > 100 ? `${shown.slice(0, 100)}…` : shown
}

/** Checks the length of the request target; too long a target also closes the connection. */
export function checkTargetLength(exchange: ApiExchange): RequestRefusal | undefined {
  if (exchange.targetLength <= limits.requestTarget) return undefined
  exchange.close = true
  return { error: 'parameter', message: `The request target is longer than ${limits.requestTarget} bytes.` }
}
