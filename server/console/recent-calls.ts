import { LRUCache } from 'lru-cache'
import type { EventActor } from '../../shared/console/event-actor.ts'
import type { EventSubject } from '../../shared/console/events.ts'
import { growingTo } from '../../shared/growing-cache.ts'

/** Maximum time between two calls that belong together, in milliseconds. */
const togetherMs = 5 * 60_000
/** Maximum number of pairs of caller and thing that are remembered. */
const maxRemembered = 1_000

/** Remembers recent calls, so that the event log has one entry for a download in parts, or for a meeting that is watched. */
export class RecentCalls {
  /** Time of the last call by caller and thing, in milliseconds of `performance.now()`. */
  readonly #times = new LRUCache<string, number>(growingTo(maxRemembered))

  /** Notes a call. @returns whether the same caller called the same of the same thing within the last five minutes */
  goesOn(procedure: string, actor: EventActor, subject: EventSubject): boolean {
    const key = JSON.stringify([procedure, actor.name, actor.address, subject.type, subject.id])
    const now = performance.now()
    const before = this.#times.get(key)
    this.#times.set(key, now)
    return before !== undefined && now - before < togetherMs
  }
}
