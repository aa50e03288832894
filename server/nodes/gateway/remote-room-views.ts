import type { RemoteRoom } from '../../../shared/media/remote-media.ts'
import type { StreamStats } from '../../../shared/media/stream-stats.ts'
import { screenSuffix } from '../../../shared/media/signal.ts'
import type { NodeUser } from '../port/media-node-port.ts'
import type { RemoteFeed } from '../port/room-media.ts'

/**
 * Returns a room in the form sent to a program.
 * @param people without users of that program
 * @param isProven returns whether a person's id is verified
 * @param hasSmall returns whether a smaller picture of a user's video is available
 */
export function remoteRoom(
  roomId: string,
  people: readonly NodeUser[],
  feeds: readonly RemoteFeed[],
  isProven: (userId: string) => boolean,
  hasSmall: (userId: string) => boolean,
): RemoteRoom {
  return {
    roomId,
    people: people.map(({ userId, userName, device, role, byNumber = false, joinedAt }) => ({
      userId,
      userName,
      device,
      role,
      byNumber,
      // A hand can be lowered only through the user's own program.
      hand: 0,
      joinedAt,
      proven: device || isProven(userId),
    })),
    streams: feeds.map(({ userId, source, videoCodec, audioCodec, videoMuted, audioMuted, tellsLevel, speaks }) => ({
      userId,
      source,
      videoCodec: videoCodec.toUpperCase(),
      audioCodec: audioCodec.toUpperCase(),
      videoMuted,
      audioMuted,
      tellsLevel,
      speaks,
      small: source === 'main' && hasSmall(userId),
    })),
  }
}

/** Returns a stream in the form of the console. */
export function remoteStats(roomId: string, { userId, source, videoCodec, audioCodec }: RemoteFeed): StreamStats {
  return {
    room_id: roomId,
    stream_id: source === 'main' ? userId : `${userId}${screenSuffix}`,
    user_id: userId,
    video_codec: videoCodec.toUpperCase(),
    audio_codec: audioCodec.toUpperCase(),
    counted: false,
    video_bytes: 0,
    audio_bytes: 0,
    frames: 0,
    key_frames: 0,
    last_key_frame_at: 0,
    last_packet_at: 0,
    viewers: 0,
    b_frames: false,
    conversion: null,
    shortcomings: [],
  }
}
