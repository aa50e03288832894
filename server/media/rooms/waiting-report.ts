import type { WaitingPerson } from '../../../shared/media/signal.ts'

/** Period in which changes are gathered into one report, in milliseconds. */
const gatherMs = 150

/** Reports the people waiting to enter one room to the controller. */
export class WaitingReport {
  readonly #read: () => WaitingPerson[]
  readonly #after: (milliseconds: number, run: () => void) => () => void
  readonly #report: (people: WaitingPerson[]) => void
  #pending = false
  /** Whether the last report had people. */
  #named = false

  /**
   * @param after runs a function later, unless the room has ended
   * @param report called with all waiting people after changes
   */
  constructor(
    read: () => WaitingPerson[],
    after: (milliseconds: number, run: () => void) => () => void,
    report: (people: WaitingPerson[]) => void,
  ) {
    this.#read = read
    this.#after = after
    this.#report = report
  }

  /** Schedules a report after a possible change. */
  changed(): void {
    if (this.#pending) return
    this.#pending = true
    this.#after(gatherMs, () => {
      this.#pending = false
      this.#send(this.#read())
    })
  }

  /** Reports an empty list when the room ends. */
  end(): void {
    this.#send([])
  }

  #send(people: WaitingPerson[]): void {
    if (people.length > 0 || this.#named) this.#report(people)
    this.#named = people.length > 0
  }
}
