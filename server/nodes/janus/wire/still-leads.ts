import { unlessAborted } from '../../../../shared/abort.ts'
import { NodeConnectionError } from '../../port/media-node-port.ts'
import type { Confirmed } from '../../secrets/janus-access.ts'

/**
 * Asked before each request to a Janus server. A controller that was frozen may have been followed by another: what it knew of rooms and cameras is not true any more, and it
 * would take down what the other one has made.
 * @returns undefined where it may act at once @throws NodeConnectionError where another controller leads; the signal's reason
 */
export function stillLeads(confirmed: Confirmed | undefined, signal: AbortSignal): Promise<void> | undefined {
  const pending = confirmed?.()
  if (pending === undefined) return undefined
  const known = pending.catch((error: unknown) => {
    throw new NodeConnectionError('another controller leads the site', { cause: error })
  })
  return unlessAborted(known, signal)
}
