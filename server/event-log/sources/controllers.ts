import type { ControllersView, ControllerView } from '../../../shared/console/controllers.ts'
import type { EventSubject, EventFields } from '../../../shared/domain/events.ts'
import type { EventSink, SharedEventLog } from '../event-log.ts'
import type { OverviewView } from '../../../shared/console/site.ts'

/** Reason of a change of the leader; empty: unknown. */
export type LeaderChange = 'lost' | 'byHand' | ''

const site = { type: 'site', id: '', name: '' } as const

/** Logs changes of the site's controllers and its database. The state at the first call of `look` causes no events. */
export class ControllerEvents {
  readonly #sink: EventSink
  /** Whether each controller was gone at the last call of `look`, by id. */
  readonly #known = new Map<string, boolean>()
  #looked = false
  #awaySince = 0

  constructor(sink: EventSink) {
    this.#sink = sink
  }

  /** Compares the current state with the state at the last call, and logs the changes. */
  look({ items, medium }: Pick<ControllersView, 'items' | 'medium'>): void {
    this.#database(medium)
    for (const controller of items) this.#controller(controller)
    this.#looked ||= items.length > 0
  }

  /** Logs that another controller leads. */
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

type ListenerViews = OverviewView['listeners']

/** Logs when listeners start and stop listening, change their address, or fail. */
export class ListenerWatch {
  readonly #sink: EventSink
  readonly #urls = new Map<string, string>()
  readonly #errors = new Map<string, string>()

  constructor(sink: EventSink) {
    this.#sink = sink
  }

  /** Compares the current state with the state at the last call, and logs the changes. */
  look(views: ListenerViews): void {
    for (const { name, url, error } of views) {
      const before = this.#urls.get(name) ?? ''
      const subject = { type: 'listener', id: name, name } as const
      if (url !== before) {
        this.#urls.set(name, url)
        const params = { url: url === '' ? before : url }
        this.#sink.append({ kind: url === '' ? 'listener.down' : 'listener.up', subject, params })
      }
      if (error !== '' && error !== this.#errors.get(name)) {
        this.#sink.append({ kind: 'listener.failed', level: 'error', subject, params: { error } })
      }
      this.#errors.set(name, error)
    }
  }
}

/** Logs when the controller starts and stops, and how the previous run ended. */
export class ControllerLife {
  readonly #log: Pick<SharedEventLog, 'append' | 'endedWith'>
  readonly #version: string

  constructor(log: Pick<SharedEventLog, 'append' | 'endedWith'>, version: string) {
    this.#log = log
    this.#version = version
  }

  /**
   * @param restartedAt time of the unexpected error after which the previous process started this process; undefined:
   * none
   */
  started(restartedAt: number | undefined): void {
    const { endedWith } = this.#log
    const version = this.#version
    if (restartedAt !== undefined) {
      return this.#log.append({ kind: 'controller.restarted', level: 'error', subject: site, params: { version } })
    }
    const isOrderly = endedWith === undefined || endedWith.kind === 'controller.stopped'
    // The end of the previous run was not logged: the power failed, or the process was killed.
    const ended: EventFields = isOrderly ? {} : { last_seen: endedWith.at }
    const level = isOrderly ? 'info' : 'warning'
    this.#log.append({ kind: 'controller.started', level, subject: site, params: { version, ...ended } })
  }

  stopped(): void {
    this.#log.append({ kind: 'controller.stopped', subject: site })
  }
}
