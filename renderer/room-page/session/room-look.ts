import type { RoomLook } from '../../../shared/media/control.ts'

/** Timeout of the node's answer, in milliseconds: longer than the controller's. */
const patienceMs = 8_000

/**
 * Reads the facts about a room that the node shows before joining. Never rejects.
 * @param origin origin of the node, e.g. `http://10.0.0.5:7082`
 * @param token token of the join link; empty: none
 * @returns undefined without an answer, e.g. after too many requests
 */
export async function lookAtRoom(origin: string, roomId: string, token = ''): Promise<RoomLook | undefined> {
  try {
    const answer = await fetch(`${origin}/entry/${encodeURIComponent(roomId)}`, {
      headers: token === '' ? {} : { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(patienceMs),
    })
    const value: unknown = answer.ok ? await answer.json() : undefined
    return isLook(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isLook(value: unknown): value is RoomLook {
  return (
    typeof value === 'object' && value !== null && 'by_number' in value && 'host_password' in value && 'topic' in value
  )
}
