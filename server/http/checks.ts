import { limits } from '../../shared/limits.ts'
import type { ErrorName } from '../../shared/result-codes.ts'
import type { Sessions } from '../access/sessions.ts'
import { readBody, readBodyParameters } from './body.ts'
import type { Exchange } from './exchange.ts'
import { isCallback } from './answer.ts'
import { callbackName } from './parameters.ts'
import type { Route } from './route.ts'

/** Checks the token. Sets `credential` if the operation requires one. */
export function checkToken(exchange: Exchange, route: Route, sessions: Pick<Sessions, 'check'>): Refusal | undefined {
  if (!route.guarded) return undefined
  const session = sessions.check(route.token(exchange.parameters))
  if (!session.ok) return { error: 'tokenIncorrect', reason: session.reason }
  exchange.credential = session.accessKey
  return undefined
}

/** Refusal of a check. */
export interface Refusal {
  error: ErrorName
  /** Left out: the error's own. */
  message?: string
  /** For the operator only. */
  reason?: string
}

/**
 * Reads the body of a request and, on the device API, its parameters. On the media API every operation is a GET: a body is read
 * and ignored.
 * @throws ClientGone
 */
export async function checkBody(exchange: Exchange): Promise<Refusal | undefined> {
  const body = await readBody(exchange.request, limits.requestBody)
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
 * Takes the callback of a JSONP request, in which every answer is wrapped from then on, refusals too. A request without Accept gets plain
 * JSON (field). One that is malformed is a parameter error, in its turn.
 */
export function readCallback(exchange: Exchange): void {
  const callback = exchange.parameters.get(callbackName)
  if (callback === undefined || callback === '') return
  if (typeof callback !== 'string' || !isCallback(callback)) {
    exchange.problem ??= `callback must be a plain identifier path of at most ${limits.callback} characters.`
  } else if (exchange.request.headers.accept !== undefined) exchange.callback = callback
}

/** Checks the parameters by the operation's schema. Sets `params`. */
export function checkParameters(exchange: Exchange, route: Route): Refusal | undefined {
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

/** The route of an exchange whose path and method an operation has; undefined when none has. */
export function knownRoute({ route, request }: Exchange): Route | undefined {
  return route?.methods.includes(request.method ?? '') ? route : undefined
}

/** Whether the request is a CORS preflight, for any path: the request that follows is refused if the path is unknown. */
export function isPreflight({ request }: Exchange): boolean {
  return request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
}

/** Reason why no route matches. */
export function refuseRoute({ api, request, route, path }: Exchange): Refusal {
  if (route === undefined)
    return { error: 'notSupported', message: `There is no ${plainPath(path)} on the ${api} API.` }
  const message = `${request.method} is not supported for ${path}: use ${route.methods.join(' or ')}.`
  return { error: 'notSupported', message }
}

/** A path as a message may name it: printable ASCII, bounded. */
function plainPath(path: string): string {
  const shown = path.replace(/[^\x21-\x7e]/g, '?')
  return shown.length > 100 ? `${shown.slice(0, 100)}…` : shown
}

/** A request target has its limit; past it the connection closes too. */
export function checkTargetLength(exchange: Exchange): Refusal | undefined {
  if (exchange.targetLength <= limits.requestTarget) return undefined
  exchange.close = true
  return { error: 'parameter', message: `The request target is longer than ${limits.requestTarget} bytes.` }
}
