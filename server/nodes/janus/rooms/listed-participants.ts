import { z } from 'zod'
import type { JanusHandle } from '../wire/janus-handle.ts'

const listSchema = z.object({
  participants: z.array(z.looseObject({ id: z.union([z.string(), z.number()]), publisher: z.boolean() })),
})

/**
 * Lists the participants of a room, and whether they publish, through one of its participants.
 * @param room name on the node
 * @throws the errors of JanusHandle.request
 */
export async function listParticipants(
  handle: JanusHandle,
  room: string,
  signal: AbortSignal,
): Promise<{ id: string | number; publisher: boolean }[]> {
  const { data } = await handle.request({ request: 'listparticipants', room }, signal)
  return listSchema.safeParse(data).data?.participants ?? []
}
