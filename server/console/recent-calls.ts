import type { EventActor, EventSubject } from '../../shared/console/events.ts'

/** Between two calls that belong together, in milliseconds. */
const togetherMs = 5 * 60_000
/** Callers and things that are remembered. */
const maxRemembered = 1_000

/** Remembers who called what a moment ago, so that the event log tells a download or a meeting that is watched once. */
export class RecentCalls {
  /** By caller and thing, the call that is longest ago first: when, by performance.now(). */
  readonly #times = new Map<string, number>()

  /** Notes a call. @returns whether the same caller called the same of the same thing within the last five minutes */
  goesOn(procedure: string, actor: EventActor, subject: EventSubject): boolean {
    const key = JSON.stringify([procedure, actor.name, actor.address, subject.type, subject.id])
    const now = performance.now()
    const before = this.#times.get(key)
    this.#times.delete(key)
    this.#times.set(key, now)
    if (this.#times.size > maxRemembered) {
      const [oldest] = this.#times.keys()
      if (oldest !== undefined) this.#times.delete(oldest)
    }
    return before !== undefined && now - before < togetherMs
  }
}
