import { z } from 'zod'
import { inLanes } from '../../port/lanes.ts'
import type { AdminApi } from '../wire/admin-api.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'

/** Somebody whose connections end. */
export interface Expelled {
  /** Its name on the node. */
  room: string
  userId: string
  /** The node's number for the participant session, if it sent one. */
  key: number | undefined
}

/** A handle by its session's id and its own. */
export type HandlePath = readonly [session: number, handle: number]

/** Finds and ends what somebody has open on a node. */
export interface ExpelSessions {
  /** @throws as AdminApi.ask */
  find(expelled: Expelled, signal: AbortSignal): Promise<HandlePath[]>
  /** @throws as AdminApi.ask */
  end(handles: readonly HandlePath[], signal: AbortSignal): Promise<void>
}

/** Handles that are checked at a time. */
const lanes = 8

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
 * Ends through the Admin API what somebody has open in one room: their own handle, and those with which they watch. The handles go rather than their sessions, because one
 * session may carry several people.
 */
export class AdminExpulsion implements ExpelSessions {
  readonly #admin: AdminApi

  constructor(admin: AdminApi) {
    this.#admin = admin
  }

  async find({ room, userId, key }: Expelled, signal: AbortSignal): Promise<HandlePath[]> {
    const found: { path: HandlePath; state: HandleState }[] = []
    // All of them: facts about sessions may be under way, and a user may have any number.
    const next = (await this.#sessions(signal))[Symbol.iterator]()
    await inLanes(
      lanes,
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

  /** It went by itself meanwhile. */
  async #unlessGone<T>(answer: Promise<T>): Promise<T | undefined> {
    try {
      return await answer
    } catch (error) {
      if (isJanusError(error, janusCodes.noSession, janusCodes.noHandle)) return undefined
      throw error
    }
  }
}
