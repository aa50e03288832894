import { limits } from '../../../shared/limits.ts'
import { readBody, readBodyParameters } from '../body.ts'
import type { Exchange } from '../exchange.ts'
import type { Refusal } from './refusal.ts'

/**
 * Reads the body of a request and, on the device API, its parameters. The media API knows no bodies: one that comes along is read and left
 * (every operation is a GET).
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
