import type { OverviewView } from '../../../shared/console/site.ts'
import type { EventSink } from '../event-log.ts'

type ListenerViews = OverviewView['listeners']

/** Writes when listeners begin and cease to listen, move, or cannot. */
export class ListenerWatch {
  readonly #sink: EventSink
  readonly #urls = new Map<string, string>()
  readonly #errors = new Map<string, string>()

  constructor(sink: EventSink) {
    this.#sink = sink
  }

  /** Compares how they are with how they were when it looked last. */
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
