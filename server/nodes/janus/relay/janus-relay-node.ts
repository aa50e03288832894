import type { NodeLogger } from '../../port/node-failure.ts'
import type { AdminApi } from '../wire/admin-api.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import { controllerToken, type JanusAccess } from '../../secrets/janus-access.ts'
import type { RelayIds } from './relay-ids.ts'
import type { RelayEnd, RelayParticipant } from './relay-ends.ts'
import type { RelayNode } from './relay-node.ts'
import type { RelayParticipants } from './relay-participants.ts'
import type { RelayRecords } from './relay-records.ts'
import { RelaySession } from './relay-session.ts'
import { z } from 'zod'
import { NodeError } from '../../port/media-node-port.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'

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

/** Timeout for ending the session, in milliseconds. */
const endMs = 2_000

export interface JanusRelayNodeDependencies {
  ids: RelayIds
  participants: RelayParticipants
  admin: Pick<AdminApi, 'ask'>
  records: RelayRecords
  logger: NodeLogger
}

/** A Janus node in its role for relays. The relays use a session separate from the one of the room page. */
export class JanusRelayNode implements RelayNode {
  readonly name: string
  readonly ids: RelayIds
  readonly records: RelayRecords
  readonly #session: RelaySession
  readonly #admin: Pick<AdminApi, 'ask'>
  readonly #participants: RelayParticipants

  constructor(
    { name, wsUrl, secrets, leadership }: Pick<JanusAccess, 'name' | 'wsUrl' | 'secrets' | 'leadership'>,
    { ids, participants, admin, records, logger }: JanusRelayNodeDependencies,
  ) {
    this.name = name
    this.ids = ids
    this.records = records
    this.#participants = participants
    this.#admin = admin
    this.#session = new RelaySession({
      node: name,
      socket: { url: wsUrl, apiSecret: secrets.api_secret, token: controllerToken(secrets), leadership, logger },
      records,
      logger,
    })
  }

  session(signal: AbortSignal): Promise<JanusSession> {
    return this.#session.get(signal)
  }

  answers(): Promise<boolean> {
    return this.#session.answers()
  }

  participantOn(end: RelayEnd, signal: AbortSignal): Promise<string | undefined> {
    return participantOn(this.#admin, end, signal)
  }

  detach(end: RelayEnd, signal: AbortSignal): Promise<void> {
    return this.#session.detach(end, signal)
  }

  admit(participant: RelayParticipant, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    return this.#participants.admit(participant, signal)
  }

  release(participant: RelayParticipant, signal: AbortSignal): Promise<void> {
    return this.#participants.release(participant, signal)
  }

  clear(participant: RelayParticipant, signal: AbortSignal): Promise<void> {
    return this.#participants.clear(participant, signal)
  }

  leave(): void {
    this.#session.leave()
  }

  /** Ends the node's relays, unless `leave` was called. Never rejects. */
  close(): Promise<void> {
    return this.#session.close(AbortSignal.timeout(endMs))
  }
}

/**
 * Returns the participant whose stream a handle in a room publishes or receives now; undefined if there is none. A
 * subscriber does not receive a participant that left and published again after the subscription began.
 * @throws the errors of AdminApi.ask; NodeError
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
