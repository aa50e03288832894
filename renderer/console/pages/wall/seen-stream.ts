import type { ConnectionStats, StreamStats } from '../../../../shared/media/stream-stats.ts'

/**
 * Minimum time for which a speaker is shown, in milliseconds, so that a dialogue does not switch pictures constantly.
 */
const restMs = 3_000

/** Stream of a room that its tile shows, and the time since which it is shown. */
export interface Seen {
  streamId: string
  userId: string
  since: number
}

/**
 * Returns the speaker's picture, or the previous picture until its minimum time has ended; without a speaker the previous
 * one, else the first available.
 */
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
  // Camera and screen belong to the same user: the camera takes precedence.
  const next =
    pictures.find(({ stream_id, user_id }) => stream_id === user_id && speaking.has(user_id)) ?? kept ?? pictures[0]
  if (next === undefined) return undefined
  if (next.stream_id === before?.streamId) return before
  return { streamId: next.stream_id, userId: next.user_id, since: now }
}
