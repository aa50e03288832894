import type { Sessions } from '../../access/sessions.ts'
import type { Exchange } from '../exchange.ts'
import type { Route } from '../route.ts'
import type { Refusal } from './refusal.ts'

/** An operation that wants a session's token has a good one; whose it is stands in `credential` then. */
export function checkToken(exchange: Exchange, route: Route, sessions: Pick<Sessions, 'check'>): Refusal | undefined {
  if (!route.guarded) return undefined
  const session = sessions.check(route.token(exchange.parameters))
  if (!session.ok) return { error: 'tokenIncorrect', reason: session.reason }
  exchange.credential = session.accessKey
  return undefined
}
