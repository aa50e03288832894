import { z } from 'zod'
import { unlessAborted } from '../../../../shared/abort.ts'
import { runWithConcurrency } from '../../port/concurrency.ts'
import type { RemovalsPort } from '../../port/removals-port.ts'
import type { AdminApi } from '../wire/admin-api.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { NodeTraits } from '../wire/node-traits.ts'
import type { JanusRooms } from './janus-rooms.ts'
import type { JanusParticipants } from './participants.ts'
import type { Visitors } from './room-admission.ts'
import type { TokenAdmission } from './token-admission.ts'

export interface JanusRemovalOptions {
  rooms: JanusRooms
  admission: TokenAdmission
  participants: JanusParticipants
  /** Ends the sessions of a removed user that are still open on the node. */
  expel: ExpelSessions
  removals: Pick<RemovalsPort, 'remove'>
  traits: Pick<NodeTraits, 'current'>
  visitors: Pick<Visitors, 'isHere'>
}

/** Removes people from the rooms of one node, with all of their sessions in the room. */
export class JanusRemoval {
  readonly #options: JanusRemovalOptions
  /** Users with a verified id who are being removed, by room and user. */
  readonly #kicking = new Set<string>()

  constructor(options: JanusRemovalOptions) {
    this.#options = options
  }

  /** Returns whether the controller is removing a user with a verified id. */
  isUnderWay(roomId: string, userId: string): boolean {
    return this.#kicking.has(keyOf(roomId, userId))
  }

  /**
   * Removes a person at the request of the controller. Resolves to false if no such person is in the room.
   * @throws the errors of AdminApi.ask
   */
  async kick(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    const { participants, removals, traits, visitors } = this.#options
    if (participants.user(roomId, userId) === undefined) {
      await participants.read(roomId, signal)
      if (participants.user(roomId, userId) === undefined) return false
    }
    const key = keyOf(roomId, userId)
    // The node or the page verifies the id. The id of a person who is still entering does not count as verified.
    const proven = traits.current.guarded || visitors.isHere(roomId, userId)
    if (proven) this.#kicking.add(key)
    try {
      // The removal is stored first, so that the person is refused even if a later step fails.
      await unlessAborted(removals.remove({ roomId, userId, proven }), signal)
      return await this.remove(roomId, userId, signal)
    } finally {
      this.#kicking.delete(key)
    }
  }

  /**
   * Revokes a user's tokens, and removes the user. Resolves to false if the user was not in the room.
   * @throws the errors of AdminApi.ask
   */
  async remove(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    // After the revocation, the user cannot open further sessions.
    await this.#options.admission.takeBack(roomId, userId, signal)
    return await this.displace(roomId, userId, signal)
  }

  /**
   * Ends a participant session and its media on this node; the user may rejoin. Resolves to false if the user was not
   * in the room.
   * @throws the errors of AdminApi.ask
   */
  async displace(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    const { rooms, participants, expel } = this.#options
    // Searches first: after the participant is removed, its handles can no longer be found.
    const key = participants.keyOf(roomId, userId)
    const open = await expel.find({ room: rooms.nameOf(roomId), userId, key }, signal)
    const wasThere = await rooms.kick(roomId, userId, signal)
    await expel.end(open, signal)
    participants.left(roomId, userId)
    return wasThere
  }
}

function keyOf(roomId: string, userId: string): string {
  return JSON.stringify([roomId, userId])
}

/** A user whose connections are to be ended. */
interface Expelled {
  /** Name of the room on the node. */
  room: string
  userId: string
  /** The node's private id of the participant session, if known. */
  key: number | undefined
}

/** Ids of a session and of one of its handles. */
type HandlePath = readonly [session: number, handle: number]

/** Finds and ends a user's handles on a node. */
export interface ExpelSessions {
  /**
   * Returns the user's handles in the room.
   * @throws the errors of AdminApi.ask
   */
  find(expelled: Expelled, signal: AbortSignal): Promise<HandlePath[]>
  /**
   * Detaches handles.
   * @throws the errors of AdminApi.ask
   */
  end(handles: readonly HandlePath[], signal: AbortSignal): Promise<void>
}

/** Number of sessions that are checked at the same time. */
const maxConcurrent = 8

const sessionsSchema = z.looseObject({ sessions: z.array(z.number()) })
const handlesSchema = z.looseObject({ handles: z.array(z.number()) })
const handleSchema = z.looseObject({
  info: z.looseObject({
    plugin: z.string().optional(),
    plugin_specific: z
      .looseObject({
        type: z.string().optional(),
        room: z.union([z.string(), z.number()]).optional(),
        id: z.union([z.string(), z.number()]).optional(),
        private_id: z.number().optional(),
      })
      .optional(),
  }),
})

type HandleState = NonNullable<z.output<typeof handleSchema>['info']['plugin_specific']>

/**
 * Ends a user's handles in one room through the Admin API: their publishers, and their subscriptions. Handles are ended
 * instead of sessions, because one session may contain handles of several users.
 */
export class AdminExpulsion implements ExpelSessions {
  readonly #admin: AdminApi

  constructor(admin: AdminApi) {
    this.#admin = admin
  }

  async find({ room, userId, key }: Expelled, signal: AbortSignal): Promise<HandlePath[]> {
    const found: { path: HandlePath; state: HandleState }[] = []
    // Checks all sessions: events about a session may not have arrived yet, and a user may have any number of sessions.
    const next = (await this.#sessions(signal))[Symbol.iterator]()
    await runWithConcurrency(
      maxConcurrent,
      () => next.next().value,
      async (session) => {
        for (const path of await this.#handles(session, signal)) {
          const state = await this.#state(path, signal)
          if (state?.room === room) found.push({ path, state })
        }
      },
    )
    const own = found.filter(({ state }) => state.type === 'publisher' && state.id === userId)
    const keys = new Set([key, ...own.map(({ state }) => state.private_id)].filter((one) => one !== undefined))
    const watching = found.filter(
      ({ state }) => state.type !== 'publisher' && state.private_id !== undefined && keys.has(state.private_id),
    )
    return [...own, ...watching].map(({ path }) => path)
  }

  async end(handles: readonly HandlePath[], signal: AbortSignal): Promise<void> {
    await Promise.all(
      handles.map(([session, handle]) =>
        this.#unlessGone(this.#admin.ask({ janus: 'detach_handle' }, signal, `/${session}/${handle}`)),
      ),
    )
  }

  async #sessions(signal: AbortSignal): Promise<number[]> {
    return sessionsSchema.parse(await this.#admin.ask({ janus: 'list_sessions' }, signal)).sessions
  }

  async #handles(session: number, signal: AbortSignal): Promise<HandlePath[]> {
    const answer = await this.#unlessGone(this.#admin.ask({ janus: 'list_handles' }, signal, `/${session}`))
    return answer === undefined ? [] : handlesSchema.parse(answer).handles.map((handle) => [session, handle])
  }

  async #state([session, handle]: HandlePath, signal: AbortSignal): Promise<HandleState | undefined> {
    const answer = await this.#unlessGone(this.#admin.ask({ janus: 'handle_info' }, signal, `/${session}/${handle}`))
    return answer === undefined ? undefined : handleSchema.parse(answer).info.plugin_specific
  }

  /** Returns an answer of Janus; undefined if the session or handle has ended. */
  async #unlessGone<T>(answer: Promise<T>): Promise<T | undefined> {
    try {
      return await answer
    } catch (error) {
      if (isJanusError(error, janusCodes.noSession, janusCodes.noHandle)) return undefined
      throw error
    }
  }
}
