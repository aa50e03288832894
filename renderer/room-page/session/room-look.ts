import type { EntryLook } from '../../../shared/media/entry-look.ts'
import type { Opening } from './ending.ts'

/** Timeout of the node's answer, in milliseconds: longer than the controller's. */
const patienceMs = 8_000

/** Facts about a room before joining. */
export interface ShownLook extends Omit<EntryLook, 'opening'> {
  /** Opening by the clock of this device; undefined: the room is open, or its opening is unknown. */
  opening?: Opening
}

/**
 * Reads the facts about a room that the node shows before joining. Never rejects.
 * @param origin origin of the node, e.g. `http://10.0.0.5:7082`
 * @param token token of the join link; empty: none
 * @returns undefined without an answer, e.g. after too many requests
 */
export async function lookAtRoom(origin: string, roomId: string, token = ''): Promise<ShownLook | undefined> {
  try {
    const answer = await fetch(`${origin}/entry/${encodeURIComponent(roomId)}`, {
      headers: token === '' ? {} : { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(patienceMs),
    })
    const value: unknown = answer.ok ? await answer.json() : undefined
    return isLook(value) ? shownLook(value) : undefined
  } catch {
    return undefined
  }
}

function shownLook({ opening, ...look }: EntryLook): ShownLook {
  if (opening === undefined) return look
  return { ...look, opening: { opensAt: Date.now() + opening.opens_in_ms, startsAt: opening.starts_at } }
}

function isLook(value: unknown): value is EntryLook {
  return (
    typeof value === 'object' && value !== null && 'by_number' in value && 'host_password' in value && 'topic' in value
  )
}
