import type { RemoteRoom } from '../../../shared/media/remote-media.ts'
import type { StreamStats } from '../../../shared/media/stream-stats.ts'
import { screenSuffix } from '../../../shared/media/signal.ts'
import type { NodeUser } from '../port/media-node-port.ts'
import type { RemoteFeed } from '../port/room-media.ts'

/**
 * A room as its program is told of it.
 * @param people without those who came through that program
 * @param isProven whether a person has proven their id
 * @param hasSmall whether there is a smaller picture of what a user sends
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
      // Only their own program can lower it.
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

/** A stream as the console reads it. */
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
