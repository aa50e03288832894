import { z } from 'zod'
import { NodeError } from '../../port/media-node-port.ts'
import type { AdminApi } from '../wire/admin-api.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { RelayEnd } from './relay-ends.ts'

/** VideoRoom plugin's facts about one of its handles: a publisher has an id, each stream of a subscriber has one. */
const answerSchema = z.looseObject({
  info: z.looseObject({
    plugin_specific: z
      .looseObject({
        id: z.string().optional(),
        streams: z.array(z.looseObject({ active: z.boolean().optional(), feed_id: z.string().optional() })).default([]),
      })
      .default({ streams: [] }),
  }),
})

/**
 * The participant whose stream a handle in a room publishes or is sent, as it is now; undefined where it has none, or is gone. Who published, left and publishes again is
 * not sent by who subscribed before.
 * @throws as AdminApi.ask; NodeError
 */
export async function participantOn(
  admin: Pick<AdminApi, 'ask'>,
  { session, handle }: RelayEnd,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const answer = answerSchema.safeParse(await admin.ask({ janus: 'handle_info' }, signal, `/${session}/${handle}`))
    if (!answer.success) throw new NodeError('it sent an event of a handle in an unknown form')
    const { id, streams } = answer.data.info.plugin_specific
    if (id !== undefined) return streams.length > 0 ? id : undefined
    return streams.find(({ active, feed_id }) => active === true && feed_id !== undefined)?.feed_id
  } catch (error) {
    if (isJanusError(error, janusCodes.noSession, janusCodes.noHandle)) return undefined
    throw error
  }
}
