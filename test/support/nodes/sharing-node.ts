import type { MediaNode } from '../../../server/nodes/port/media-node-port.ts'
import { FaultyNode } from './faulty-node.ts'

/** A faulty node whose rooms may also be on other nodes. */
export class SharingNode extends FaultyNode implements MediaNode {
  /** Rooms and users whose passes were revoked. */
  readonly revoked: string[] = []

  async displace(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    // Like other calls, it may be refused, lost or late.
    await this.users(roomId, signal)
    this.leavePerson(roomId, userId)
  }

  async revoke(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    await this.users(roomId, signal)
    this.revoked.push(`${roomId} ${userId}`)
  }
}
