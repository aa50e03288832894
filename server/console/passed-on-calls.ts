import type { IncomingMessage } from 'node:http'
import { isProcedureName, procedures } from '../../shared/console/contract.ts'
import { provenRequest } from '../edge/passed-on.ts'

/** Header of a replica's call, inside its proof: `key` for somebody who showed the console key there, `events` for the replica's own WebSocket. */
export const callerHeader = 'roomdesk-caller'

/** Header beside it: whether that key was shown within the last ten minutes. */
export const keyShownHeader = 'roomdesk-key-shown'

/** Whether a replica asks the leader for this procedure. One that it does not know is the leader's to refuse. */
export function isPassedOnCall(procedure: string): boolean {
  return !isProcedureName(procedure) || procedures[procedure].passedOn
}

/** Whether a request is one that controllers send each other's consoles, whole and covered by its proof. @param leads this one does */
export function isCallOfController(request: IncomingMessage, leads: boolean): boolean {
  const { method = '', url = '' } = request
  if (provenRequest(request)?.body === 'streamed') return false
  if (method === 'GET' && url === '/healthz') return true
  if (!leads) return false
  if (url === '/session') return method === 'POST' || method === 'DELETE'
  if (method === 'POST' && url.startsWith('/rpc/')) return isPassedOnCall(decodeURIComponent(url.slice('/rpc/'.length)))
  return method === 'POST' && url === '/controllers'
}

/** Whether a replica proves to call for somebody who showed the console key there. The key is that machine's own, and nothing that the leader could look up. */
export function isCallOfKeyHolder(request: IncomingMessage): boolean {
  return provenRequest(request) !== undefined && request.headers[callerHeader] === 'key'
}

/** Whether that key was shown within the last ten minutes. A replica of an earlier version does not say. */
export function wasKeyShown(request: IncomingMessage): boolean {
  return request.headers[keyShownHeader] === 'yes'
}

/** Whether a replica proves to want the events for its pages. */
export function wantsEvents(request: IncomingMessage): boolean {
  return provenRequest(request) !== undefined && request.headers[callerHeader] === 'events'
}
