import type { RoomLook } from '../../../shared/media/control.ts'

/** Milliseconds that the node is given: longer than it gives the controller. */
const patienceMs = 8_000

/**
 * What the node says of a room to somebody without a link, before they join. Never rejects.
 * @param origin of the node, e.g. `http://10.0.0.5:7082`
 * @returns undefined where it does not say, e.g. after too many looks
 */
export async function lookAtRoom(origin: string, roomId: string): Promise<RoomLook | undefined> {
  try {
    const answer = await fetch(`${origin}/entry/${encodeURIComponent(roomId)}`, {
      signal: AbortSignal.timeout(patienceMs),
    })
    const value: unknown = answer.ok ? await answer.json() : undefined
    return isLook(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isLook(value: unknown): value is RoomLook {
  return typeof value === 'object' && value !== null && 'by_number' in value && 'host_password' in value
}
