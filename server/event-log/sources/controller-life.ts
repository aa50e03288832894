import type { EventFields } from '../../../shared/console/events.ts'
import type { SharedEventLog } from '../event-log.ts'

const site = { type: 'site', id: '', name: '' } as const

/** Writes when the controller starts and stops, and how the time before ended. */
export class ControllerLife {
  readonly #log: Pick<SharedEventLog, 'append' | 'endedWith'>
  readonly #version: string

  constructor(log: Pick<SharedEventLog, 'append' | 'endedWith'>, version: string) {
    this.#log = log
    this.#version = version
  }

  /** @param restartedAt when the process before this one met an unexpected error and started this one; undefined when it did not */
  started(restartedAt: number | undefined): void {
    const { endedWith } = this.#log
    const version = this.#version
    if (restartedAt !== undefined) {
      return this.#log.append({ kind: 'controller.restarted', level: 'error', subject: site, params: { version } })
    }
    const isOrderly = endedWith === undefined || endedWith.kind === 'controller.stopped'
    // The end of the time before was not written: the power failed, or the process was killed.
    const ended: EventFields = isOrderly ? {} : { last_seen: endedWith.at }
    const level = isOrderly ? 'info' : 'warning'
    this.#log.append({ kind: 'controller.started', level, subject: site, params: { version, ...ended } })
  }

  stopped(): void {
    this.#log.append({ kind: 'controller.stopped', subject: site })
  }
}
