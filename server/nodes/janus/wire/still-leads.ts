import { unlessAborted } from '../../../../shared/abort.ts'
import { NodeConnectionError } from '../../port/media-node-port.ts'
import type { Confirms } from '../../secrets/janus-access.ts'

/**
 * Asked before each request to a Janus server. A controller that was frozen may have been followed by another: what it knew of rooms and cameras is not true any more, and it
 * would take down what the other one has made.
 * @returns undefined where it may act at once @throws NodeConnectionError where another controller leads; the signal's reason
 */
export function stillLeads(leadership: Confirms, signal: AbortSignal): Promise<void> | undefined {
  const pending = leadership.confirmed()
  if (!(pending instanceof Promise)) return undefined
  const known = pending.then(
    () => undefined,
    (error: unknown) => {
      throw new NodeConnectionError('another controller leads the site', { cause: error })
    },
  )
  return unlessAborted(known, signal)
}
