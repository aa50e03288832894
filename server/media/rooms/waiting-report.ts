import type { WaitingPerson } from '../../../shared/media/signal.ts'
import type { Lifetime } from '../base/lifetime.ts'
import type { RoomReports } from './room-reports.ts'

/** Period in which changes are gathered into one report, in milliseconds. */
const gatherMs = 150

/** Reports the people waiting to enter one room to the controller. */
export class WaitingReport {
  readonly #waiting: { readonly people: WaitingPerson[] }
  /** Lifetime of the room's timers. */
  readonly #lifetime: Lifetime
  readonly #reports: RoomReports
  #pending = false
  /** Whether the last report listed any people. */
  #named = false

  constructor(waiting: { readonly people: WaitingPerson[] }, lifetime: Lifetime, reports: RoomReports) {
    this.#waiting = waiting
    this.#lifetime = lifetime
    this.#reports = reports
  }

  /** Schedules a report after a possible change. */
  changed(): void {
    if (this.#pending) return
    this.#pending = true
    this.#lifetime.after(gatherMs, () => {
      this.#pending = false
      this.#send(this.#waiting.people)
    })
  }

  /** Reports an empty list when the room ends. */
  end(): void {
    this.#send([])
  }

  #send(people: WaitingPerson[]): void {
    if (people.length > 0 || this.#named) this.#reports.waiting(people)
    this.#named = people.length > 0
  }
}
