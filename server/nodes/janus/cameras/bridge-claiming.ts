import type { StoredCameraBridge } from '../../../store/records.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import { listParticipants } from '../rooms/listed-participants.ts'
import type { BridgeHandles } from './bridge-joining.ts'
import type { MountpointRequests } from './mountpoint-requests.ts'

/** The handles of a bridge in a session that was claimed; undefined when one was detached since. */
export function handlesOf(session: JanusSession, record: StoredCameraBridge): BridgeHandles | undefined {
  const publisher = session.handle(record.publisher)
  const subscriber = session.handle(record.subscriber)
  return publisher === undefined || subscriber === undefined ? undefined : { publisher, subscriber }
}

/**
 * Silence of a bridge in milliseconds; undefined when it is gone. Events while nobody listened are lost, so both ends are queried.
 * @param room its room's name on the node
 * @throws NodeError; the signal's reason
 */
export async function silenceOf(
  { record, room }: { record: StoredCameraBridge; room: string },
  { publisher, subscriber }: BridgeHandles,
  requests: Pick<MountpointRequests, 'silenceOf'>,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    const [listed, silence] = await Promise.all([
      listParticipants(publisher, room, signal),
      requests.silenceOf(subscriber, record.mountpoint, signal),
    ])
    const isThere = listed.some(({ id, publisher: publishes }) => id === record.user_id && publishes)
    return isThere ? silence : undefined
  } catch (error) {
    const { noHandle, noRoom, noMountpoint } = janusCodes
    if (isJanusError(error, noHandle, noRoom, noMountpoint)) return undefined
    throw error
  }
}
