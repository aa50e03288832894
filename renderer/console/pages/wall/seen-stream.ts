import type { ConnectionStats, StreamStats } from '../../../../shared/media/stream-stats.ts'

/** Milliseconds for which a speaker is seen at least: two who talk to each other do not make the picture jump. */
const restMs = 3_000

/** Which stream of a room its tile shows, and since when, milliseconds since the epoch. */
export interface Seen {
  streamId: string
  userId: string
  since: number
}

/** The picture of who speaks; of nobody new while the one of before was seen for a short time only; else what was seen before, else the first there is. */
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
  // A person's screen and camera both are theirs: the camera comes first.
  const next =
    pictures.find(({ stream_id, user_id }) => stream_id === user_id && speaking.has(user_id)) ?? kept ?? pictures[0]
  if (next === undefined) return undefined
  if (next.stream_id === before?.streamId) return before
  return { streamId: next.stream_id, userId: next.user_id, since: now }
}
