import type { ConnectionStats, StreamStats } from '../../../../shared/media/stream-stats.ts'

/** Minimum time for a speaker in the picture, in milliseconds: two who talk to each other do not make it jump. */
const restMs = 3_000

/** Stream of a room that its tile shows, and since when, in milliseconds since the epoch. */
export interface Seen {
  streamId: string
  userId: string
  since: number
}

/** Picks the speaker's picture, but not before the minimum time of the previous one; else the previous one, else the first available. */
export function seenStream(
  streams: readonly Pick<StreamStats, 'stream_id' | 'user_id' | 'video_codec'>[],
  connections: readonly Pick<ConnectionStats, 'user_id' | 'speaking'>[],
  before: Seen | undefined,
  now: number,
): Seen | undefined {
  const pictures = streams.filter(({ video_codec }) => video_codec !== '')
  const kept = pictures.find(({ stream_id }) => stream_id === before?.streamId)
  if (before !== undefined && kept !== undefined && now - before.since < restMs) return before
  const speaking = new Set(connections.flatMap((one) => (one.speaking ? [one.user_id] : [])))
  if (before !== undefined && kept !== undefined && speaking.has(kept.user_id)) return before
  // Camera and screen belong to the same user: the camera comes first.
  const next =
    pictures.find(({ stream_id, user_id }) => stream_id === user_id && speaking.has(user_id)) ?? kept ?? pictures[0]
  if (next === undefined) return undefined
  if (next.stream_id === before?.streamId) return before
  return { streamId: next.stream_id, userId: next.user_id, since: now }
}
