import { setNewest } from '../../../../shared/growing-cache.ts'
import { sleep } from '../../../../shared/sleep.ts'
import { z } from 'zod'
import type { ConnectionEvent } from '../events/event-message.ts'
import type { AdminApi } from '../wire/admin-api.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'

/** Time after the loss of a connection in which a client may claim its session again, in milliseconds. */
const graceMs = 10_000
/** Maximum number of tracked sessions. The oldest are dropped first. */
const maxSessions = 20_000
/** Timeout of a query about a handle, in milliseconds. */
const askMs = 4_000

const activitySchema = z.looseObject({ info: z.looseObject({ session_last_activity: z.number() }) })

/** A participant in a room, with the name of the room on the node. */
interface Present {
  handle: number
  room: string
  userId: string
}

interface KnownSession {
  connection: string
  present: Map<string, Present>
}

export interface LostConnectionsOptions {
  admin: AdminApi
  /** Removes a participant from a room; they may rejoin. */
  displace: (room: string, userId: string, signal: AbortSignal) => Promise<unknown>
  onError: (error: unknown) => void
}

/**
 * Removes participants whose connection to Janus's own API was lost, if they do not reconnect in time. Janus keeps
 * their sessions for a minute, so that cameras stay while the controller restarts. Requires the node's events
 * `sessions` and `transports`.
 */
export class LostConnections {
  readonly #options: LostConnectionsOptions
  readonly #sessions = new Map<number, KnownSession>()
  readonly #ended = new AbortController()

  constructor(options: LostConnectionsOptions) {
    this.#options = options
  }

  take(event: ConnectionEvent): void {
    if (event.type === 'disconnected') return this.#disconnected(event.connection)
    const { session } = event
    if (event.type === 'sessionEnded') this.#sessions.delete(session)
    else if (event.type === 'sessionBegun') this.#begun(session, event.connection)
    else this.#sessions.get(session)?.present.set(`${event.handle} ${event.room}`, event)
  }

  /** Drops all tracked sessions, because the node restarted or stopped sending events. */
  forget(): void {
    this.#sessions.clear()
  }

  close(): void {
    this.#ended.abort()
    this.forget()
  }

  #begun(session: number, connection: string): void {
    setNewest(this.#sessions, session, { connection, present: new Map() }, maxSessions)
  }

  #disconnected(gone: string): void {
    for (const [session, { connection, present }] of this.#sessions)
      if (connection === gone && present.size > 0)
        this.#watch(session, [...present.values()]).catch((error: unknown) => {
          if (!this.#ended.signal.aborted) this.#options.onError(error)
        })
  }

  /** Waits, and then removes participants whose session was neither claimed nor used meanwhile. */
  async #watch(session: number, present: readonly Present[]): Promise<void> {
    const [first] = present
    if (first === undefined) return
    const { signal } = this.#ended
    const before = await this.#activity(session, first.handle)
    await sleep(graceMs, { signal, ref: false })
    const after = await this.#activity(session, first.handle)
    if (after === undefined || after !== before || !this.#sessions.has(session)) return
    this.#sessions.delete(session)
    for (const { room, userId } of present) await this.#options.displace(room, userId, this.#soon())
  }

  /** Returns the time at which the session was last used, on the node's clock; undefined if the session has ended. */
  async #activity(session: number, handle: number): Promise<number | undefined> {
    try {
      const answer = await this.#options.admin.ask({ janus: 'handle_info' }, this.#soon(), `/${session}/${handle}`)
      return activitySchema.parse(answer).info.session_last_activity
    } catch (error) {
      if (isJanusError(error, janusCodes.noSession, janusCodes.noHandle)) return undefined
      throw error
    }
  }

  #soon(): AbortSignal {
    return AbortSignal.any([this.#ended.signal, AbortSignal.timeout(askMs)])
  }
}
