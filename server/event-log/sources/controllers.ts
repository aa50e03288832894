import type { ControllersView, ControllerView } from '../../../shared/console/controllers.ts'
import type { EventSubject } from '../../../shared/console/events.ts'
import type { EventSink } from '../event-log.ts'

/** Why another controller leads; empty where that is not known. */
export type LeaderChange = 'lost' | 'byHand' | ''

const site = { type: 'site', id: '', name: '' } as const

/** Writes what becomes of the controllers of the site and of its database. What was so at the first look is no news. */
export class ControllerEvents {
  readonly #sink: EventSink
  /** Controllers by id, with whether each was gone. */
  readonly #known = new Map<string, boolean>()
  #looked = false
  #awaySince = 0

  constructor(sink: EventSink) {
    this.#sink = sink
  }

  /** Compares how they are with how they were when it looked last. */
  look({ items, medium }: Pick<ControllersView, 'items' | 'medium'>): void {
    this.#database(medium)
    for (const controller of items) this.#controller(controller)
    this.#looked ||= items.length > 0
  }

  /** Another controller leads. */
  leads({ from, why, ...leader }: { id: string; name: string; from: string; why: LeaderChange }): void {
    const level = why === 'byHand' ? 'info' : 'warning'
    this.#sink.append({ kind: 'leader.changed', level, subject: subjectOf(leader), params: { from, why } })
  }

  #controller(controller: ControllerView): void {
    const { id, gone, self, version, seen_at } = controller
    const wasGone = this.#known.get(id)
    this.#known.set(id, gone)
    if (!this.#looked || self || gone === (wasGone ?? true)) return
    const subject = subjectOf(controller)
    if (gone) this.#sink.append({ kind: 'controller.gone', level: 'warning', subject, params: { last_seen: seen_at } })
    else this.#sink.append({ kind: 'controller.appeared', subject, params: { version } })
  }

  #database({ kind, away_since, error }: ControllersView['medium']): void {
    if (kind !== 'database' || away_since > 0 === this.#awaySince > 0) return
    if (away_since > 0)
      this.#sink.append({ kind: 'database.away', level: 'error', subject: site, params: { error }, at: away_since })
    else this.#sink.append({ kind: 'database.back', subject: site, params: { away_ms: Date.now() - this.#awaySince } })
    this.#awaySince = away_since
  }
}

function subjectOf({ id, name }: { id: string; name: string }): EventSubject {
  return { type: 'controller', id, name }
}
