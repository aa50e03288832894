import type { RoomLook } from '../../../shared/media/control.ts'

/** Milliseconds that the node is given: longer than it gives the controller. */
const patienceMs = 8_000

/**
 * Facts that the node tells about a room before somebody joins. Never rejects.
 * @param origin of the node, e.g. `http://10.0.0.5:7082`
 * @param token of the join link; empty for none
 * @returns undefined where it does not say, e.g. after too many looks
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
