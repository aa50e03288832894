import { limits } from '../../../shared/limits.ts'
import type { Exchange } from '../exchange.ts'
import type { Refusal } from './refusal.ts'

/** A request target has its limit; past it the connection closes too. */
export function checkTargetLength(exchange: Exchange): Refusal | undefined {
  if (exchange.targetLength <= limits.requestTarget) return undefined
  exchange.close = true
  return { error: 'parameter', message: `The request target is longer than ${limits.requestTarget} bytes.` }
}
