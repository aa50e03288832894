import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { sleep } from '../../../../shared/sleep.ts'
import { within } from '../../port/deadline.ts'
import { NodeConnectionError, NodeError } from '../../port/media-node-port.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import type { AdminApi } from '../wire/admin-api.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import type { JanusSocketOptions } from '../wire/janus-socket.ts'
import { LastingSession } from '../wire/lasting-session.ts'
import type { RelayEnd, RelayIds, RelayParticipants } from './relay-participants.ts'
import type { RelayRecords } from './relay-records.ts'

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

interface RelaySessionOptions {
  node: string
  socket: JanusSocketOptions
  records: RelayRecords
  logger: NodeLogger
}

/** Time without an answer, in milliseconds, after which a node counts as hanging. */
const hangMs = 600
/**
 * Delay of this process's own timer, in milliseconds, above which a missing answer is ignored and the node is queried
 * again.
 */
const lateMs = 100
/** Timeout for ending the session, in milliseconds. */
const endMs = 2_000

/**
 * The session with the relay handles of one node, opened on demand. If the connection is lost or the controller ends,
 * Janus keeps the session for a while with its relays; the next connection claims it.
 */
export class RelaySession {
  readonly #options: RelaySessionOptions
  readonly #session: LastingSession
  readonly #closing = new AbortController()
  #question: Promise<boolean> | undefined
  #isLeft = false

  constructor(options: RelaySessionOptions) {
    const { node, socket, records, logger } = options
    this.#options = options
    this.#session = new LastingSession({
      socket,
      known: () => records.known(node),
      opened: (session) => this.#opened(session),
      // Relays of a lost session are detected when another session is opened.
      lost: () => {},
      // The relay observers rejoin on their own.
      needed: () => false,
      logger,
    })
  }

  /**
   * Returns the session, and opens or claims it if necessary.
   * @throws NodeError, NodeConnectionError, DeadlineError; the signal's reason
   */
  get(signal: AbortSignal): Promise<JanusSession> {
    return this.#session.get(signal)
  }

  /** Returns whether Janus answers within `hangMs`. Concurrent callers share the result. Never rejects. */
  answers(): Promise<boolean> {
    this.#question ??= this.#ask().finally(() => {
      this.#question = undefined
    })
    return this.#question
  }

  /** Detaches a handle now, or as soon as the node is reachable again. Never rejects. */
  async detach(end: RelayEnd, signal: AbortSignal): Promise<void> {
    const { current } = this.#session
    try {
      if (current?.id === end.session) return await current.handle(end.handle)?.detach(signal)
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'could not detach a handle of a relay: trying again later')
    }
    this.#options.records.leaveBehind(this.#options.node, end)
  }

  /** Makes `close` keep the session with its handles for the next controller. */
  leave(): void {
    this.#isLeft = true
  }

  /** Ends the session on Janus with all of its handles, unless `leave` was called. Never rejects. */
  async close(): Promise<void> {
    this.#closing.abort(new NodeConnectionError('the node was taken out of service'))
    await this.#session.close(this.#isLeft, AbortSignal.timeout(endMs))
  }

  #opened(session: JanusSession): Promise<void> {
    const { node, records } = this.#options
    for (const { handle } of records.straysOf(node)) session.handle(handle)?.drop()
    records.use(node, session.id)
    return Promise.resolve()
  }

  async #ask(): Promise<boolean> {
    for (;;) {
      const began = performance.now()
      // Messages received while this process was blocked are handled before the timeout counts.
      const late = sleep(hangMs, { ref: false }).then(() => nextTurn(false))
      if (await Promise.race([this.#answered(), late])) return true
      if (this.#closing.signal.aborted || performance.now() - began < hangMs + lateMs) return false
    }
  }

  async #answered(): Promise<boolean> {
    try {
      await within({ milliseconds: 2 * hangMs, signal: this.#closing.signal }, async (signal) => {
        const session = await this.get(signal)
        await session.request({ janus: 'keepalive' }, signal)
      })
      return true
    } catch {
      // Any failure counts as no answer.
      return false
    }
  }
}
