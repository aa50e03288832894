import { isShut } from '../schedule/room-hours.ts'
import { shutError } from '../rooms/scheduled-rooms.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { Settings } from '../../shared/settings.ts'
import { JanusError } from '../nodes/janus/wire/janus-error.ts'
import type { JanusNodes } from '../nodes/janus/janus-nodes.ts'
import { NodeConnectionError, NodeError } from '../nodes/port/media-node-port.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import type { Store } from '../store/store.ts'
import type { Handler } from './handlers.ts'

export interface ParticipantTokenDependencies {
  store: Pick<Store, 'get'>
  rooms: Pick<Rooms, 'get'>
  pool: Pick<NodePool, 'callerNodes'>
  janus: Pick<JanusNodes, 'letIn'>
  settings: () => Settings
}

/**
 * Gives a participant access to a room on a Janus node through Janus's own API. Assigns a node to a room without a
 * node.
 */
export function participantTokens(dependencies: ParticipantTokenDependencies): Handler<'media.participant_token'> {
  const { store, rooms, pool, janus, settings } = dependencies
  return async ({
    room_id: roomId,
    user_id: userId,
    user_name: userName,
    role,
    idc_code: idcCode,
    life_ms: lifeMs,
  }) => {
    const room = rooms.get(roomId)
    if (isShut(room)) throw shutError(room)
    if (store.get('devices', userId)?.roomId === roomId)
      throw new RefusalError(refusal('participantIsDevice'), { fields: ['user_id'] })
    const signal = AbortSignal.timeout(settings().deadlines.node_ms)
    const name = await pool.callerNodes.nodeFor(roomId, { idcCode }, signal)
    if (store.get('nodes', name)?.kind !== 'janus') throw new RefusalError(refusal('roomNotOnJanus'))
    // Janus accepts only whole seconds.
    const expiresAt = Math.ceil((Date.now() + (lifeMs ?? settings().media.link_life_ms)) / 1_000)
    try {
      const { wsUrl, room, token, roomToken } = await janus.letIn(name, { roomId, userId, role, expiresAt }, signal)
      return {
        ws_url: wsUrl,
        room,
        id: userId,
        display: userName ?? userId,
        token,
        room_token: roomToken,
        expires_at: expiresAt * 1_000,
      }
    } catch (error) {
      if (signal.aborted || error instanceof NodeConnectionError || error instanceof JanusError)
        throw new RefusalError(refusal('janusSilent'), { cause: error })
      // The error message of the driver contains the reason.
      if (error instanceof NodeError)
        throw new RefusalError(refusal('participantRefused', { reason: error.message }), { cause: error })
      throw error
    }
  }
}
