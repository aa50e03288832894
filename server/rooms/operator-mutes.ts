import { ApiError } from '../../shared/result-codes.ts'
import type { GatewayRooms } from '../nodes/gateway/gateway-rooms.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import type { RequestProgram } from './waiting-guests.ts'

export interface OperatorMutesDependencies {
  pool: Pick<NodePool, 'user' | 'nodeOfUser'>
  gateway: Pick<GatewayRooms, 'isRemote' | 'mute'>
  request: RequestProgram
}

/** Mutes people in rooms for the operator, as hosts do: muted people can unmute themselves. */
export class OperatorMutes {
  readonly #dependencies: OperatorMutesDependencies

  constructor(dependencies: OperatorMutesDependencies) {
    this.#dependencies = dependencies
  }

  /** @throws ApiError userNotOnline, also for cameras; NodeError, RoomMediaError */
  async mute(roomId: string, userId: string, kind: 'audio' | 'video'): Promise<void> {
    const { pool, gateway, request } = this.#dependencies
    const node = pool.nodeOfUser(roomId, userId)
    if (node === undefined || pool.user(roomId, userId)?.device !== false) throw new ApiError('userNotOnline')
    if (gateway.isRemote(node)) return await gateway.mute(roomId, userId, kind)
    const { muted } = await request(node, 'mute', { roomId, userId, kind, by: '' })
    if (!muted) throw new ApiError('userNotOnline')
  }
}
