/** Facts of a recording or live stream by which it is found. */
interface Ordered {
  room_id: string
  user_id: string
  created_at: number
  ended_at?: number
}

/** Filter of recordings and live streams; what is left out does not filter. */
export interface OrderFilter {
  roomId?: string | undefined
  userId?: string | undefined
  /** Beginning in this span, in milliseconds since the epoch. */
  from?: number | undefined
  to?: number | undefined
}

export function matches({ room_id, user_id, created_at }: Ordered, { roomId, userId, from, to }: OrderFilter): boolean {
  return (
    (roomId === undefined || room_id === roomId) &&
    (userId === undefined || user_id === userId) &&
    (from === undefined || created_at >= from) &&
    (to === undefined || created_at <= to)
  )
}

/** All, the newest first. */
export function newestFirst<T extends Ordered>(all: ReadonlyMap<string, T>): T[] {
  return [...all.values()].sort((one, other) => other.created_at - one.created_at)
}

/** The ones beyond `limit` that are over, the one that ended first in front. */
export function prunedBy<T extends Ordered>(
  all: ReadonlyMap<string, T>,
  limit: number,
  isOver: (ordered: T) => boolean,
): T[] {
  const excess = all.size - limit
  if (excess <= 0) return []
  const over = [...all.values()].filter(isOver)
  return over.sort((one, other) => (one.ended_at ?? 0) - (other.ended_at ?? 0)).slice(0, excess)
}
