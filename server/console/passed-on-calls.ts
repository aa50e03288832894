import type { IncomingMessage } from 'node:http'
import { isProcedureName, procedures } from '../../shared/console/contract.ts'
import { provenRequest } from '../edge/passed-on.ts'

/**
 * Header of a replica's call, included in its signature: `key` for a caller who presented the console key to the
 * replica, `events` for the replica's own WebSocket.
 */
export const callerHeader = 'roomdesk-caller'

/** Header beside `callerHeader`: whether the console key was presented within the last ten minutes. */
export const keyShownHeader = 'roomdesk-key-shown'

/**
 * Whether a replica forwards this procedure to the leader. A procedure without a declaration in this version is
 * forwarded, too: the leader may be newer.
 */
export function isPassedOnCall(procedure: string): boolean {
  return !isProcedureName(procedure) || procedures[procedure].passedOn
}

/**
 * Whether a request is a console request between controllers whose signature includes the body.
 * @param leads whether this controller is the leader
 */
export function isCallOfController(request: IncomingMessage, leads: boolean): boolean {
  const { method = '', url = '' } = request
  if (provenRequest(request)?.body === 'streamed') return false
  if (method === 'GET' && url === '/healthz') return true
  if (!leads) return false
  if (url === '/session') return method === 'POST' || method === 'DELETE'
  if (method === 'POST' && url.startsWith('/rpc/')) return isPassedOnCall(decodeURIComponent(url.slice('/rpc/'.length)))
  return method === 'POST' && url === '/controllers'
}

/**
 * Whether a replica forwards the call of a holder of the console key. The key belongs to the replica's machine, so the
 * leader cannot check it.
 */
export function isCallOfKeyHolder(request: IncomingMessage): boolean {
  return provenRequest(request) !== undefined && request.headers[callerHeader] === 'key'
}

/**
 * Whether the console key was presented within the last ten minutes. Replicas of earlier versions do not send the
 * header.
 */
export function wasKeyShown(request: IncomingMessage): boolean {
  return request.headers[keyShownHeader] === 'yes'
}

/** Whether a replica requests events for its pages. */
export function wantsEvents(request: IncomingMessage): boolean {
  return provenRequest(request) !== undefined && request.headers[callerHeader] === 'events'
}
