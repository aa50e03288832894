import type { ConnectionStats } from '../../../../shared/media/stream-stats.ts'
import type { StreamRates } from './useRoomMedia.ts'
import type { RoomUserView } from '../../../../shared/domain/rooms.ts'

/** A user or device of a room with its streams. */
export interface RosterEntry {
  user: RoomUserView
  streams: readonly StreamRates[]
  connection: ConnectionStats | undefined
  /** Media that a user sends; undefined: unknown, or a device. */
  sends: { audio: boolean; video: boolean; screen: boolean } | undefined
}

/** Assigns the streams of a room to its users, in joining order. */
export function roomRoster(
  users: readonly RoomUserView[],
  streams: readonly StreamRates[],
  connections: ReadonlyMap<string, ConnectionStats>,
): RosterEntry[] {
  const byUser = Map.groupBy(streams, ({ user_id }) => user_id)
  return users.map((user) => {
    const own = byUser.get(user.user_id) ?? []
    const connection = connections.get(user.user_id)
    return { user, streams: own, connection, sends: user.device ? undefined : sentBy(own, connection) }
  })
}

/**
 * Returns the media that a user sends. Room pages report whether microphone and camera are on; for other clients only
 * the streams are known.
 */
function sentBy(streams: readonly StreamRates[], connection: ConnectionStats | undefined): RosterEntry['sends'] {
  if (connection === undefined && streams.length === 0) return undefined
  const main = streams.find(({ stream_id, user_id }) => stream_id === user_id)
  return {
    audio: connection?.audio ?? (main?.audio_codec ?? '') !== '',
    video: connection?.video ?? (main?.video_codec ?? '') !== '',
    screen: streams.some(({ stream_id, user_id }) => stream_id !== user_id),
  }
}
