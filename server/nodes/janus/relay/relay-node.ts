import { z } from 'zod'
import { NodeError } from '../../port/media-node-port.ts'
import type { AdminApi } from '../wire/admin-api.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { RelayEnd } from './relay-ends.ts'
import type { RelayIds } from './relay-ids.ts'
import type { RelayParticipants } from './relay-participants.ts'
import type { RelayRecords } from './relay-records.ts'
import type { RelaySession } from './relay-session.ts'

/** A Janus node in its role for relays. */
export interface RelayNode {
  readonly name: string
  readonly ids: RelayIds
  readonly records: RelayRecords
  /** Session for relays, separate from the session of the room page. */
  readonly session: RelaySession
  /** Relay participants in the rooms of the node. */
  readonly participants: Pick<RelayParticipants, 'admit' | 'release' | 'clear'>
  readonly admin: Pick<AdminApi, 'ask'>
}

/**
 * Data of the VideoRoom plugin about one of its handles. A publisher has an id; each stream of a subscriber has a
 * `feed_id`.
 */
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
 * Returns the participant whose stream a handle in a room publishes or receives now; undefined if there is none. A
 * subscriber does not receive a participant that left and published again after the subscription began.
 * @throws the errors of AdminApi.ask; NodeError
 */
export async function participantOn(
  { admin }: Pick<RelayNode, 'admin'>,
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
