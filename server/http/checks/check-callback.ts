import { limits } from '../../../shared/limits.ts'
import type { Exchange } from '../exchange.ts'
import { isCallback } from '../jsonp.ts'
import { callbackName } from '../parameters.ts'

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
