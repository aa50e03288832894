import { limits } from '../../../shared/limits.ts'
import type { Exchange } from '../exchange.ts'
import type { Route } from '../route.ts'
import type { Refusal } from './refusal.ts'

/** Parameters are well formed and what the operation's schema wants; they are in `params` then. */
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
