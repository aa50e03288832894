import { unlessAborted } from '../../../../shared/abort.ts'
import { NodeConnectionError } from '../../port/media-node-port.ts'
import type { Confirms } from '../../secrets/janus-access.ts'

/**
 * Checks before a request to a Janus server whether this controller still leads the site. If this process was
 * suspended, another controller may have taken over. Acting on outdated state would remove rooms and cameras that the
 * other controller created.
 * @returns undefined if the request may be sent immediately
 * @throws NodeConnectionError if another controller leads; the signal's reason
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
