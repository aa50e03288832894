import { ApiError } from '../../shared/result-codes.ts'
import type { GatewayRooms } from '../nodes/gateway/gateway-rooms.ts'
import type { PresenceView } from '../nodes/pool/state/presence.ts'
import type { RequestProgram } from './waiting-guests.ts'

export interface OperatorMutesDependencies {
  presence: Pick<PresenceView, 'sessionOf'>
  gateway: Pick<GatewayRooms, 'isRemote' | 'mute'>
  request: RequestProgram
}

/** Mutes people in rooms for the operator, as hosts do: muted people can unmute themselves. */
export class OperatorMutes {
  readonly #dependencies: OperatorMutesDependencies

  constructor(dependencies: OperatorMutesDependencies) {
    this.#dependencies = dependencies
  }

  /** Mutes a person. @throws ApiError userNotOnline, also for cameras; NodeError, RoomMediaError */
  async mute(roomId: string, userId: string, kind: 'audio' | 'video'): Promise<void> {
    const { presence, gateway, request } = this.#dependencies
    const session = presence.sessionOf(roomId, userId)
    if (session === undefined || session.user.device) throw new ApiError('userNotOnline')
    const { node } = session
    if (gateway.isRemote(node)) return await gateway.mute(roomId, userId, kind)
    const { muted } = await request(node, 'mute', { roomId, userId, kind, by: '' })
    if (!muted) throw new ApiError('userNotOnline')
  }
}
