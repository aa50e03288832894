import type { WaitingPerson } from '../../../shared/media/signal.ts'

/** Time in milliseconds in which changes are gathered into one report. */
const gatherMs = 150

/** Reports to the controller who waits before one room. */
export class WaitingReport {
  readonly #read: () => WaitingPerson[]
  readonly #after: (milliseconds: number, run: () => void) => () => void
  readonly #report: (people: WaitingPerson[]) => void
  #pending = false
  /** The last report named somebody. */
  #named = false

  /**
   * @param after runs something later; never again once the room is over
   * @param report called with everybody who waits, after changes
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

  /** Somebody may have begun or ceased to wait. */
  changed(): void {
    if (this.#pending) return
    this.#pending = true
    this.#after(gatherMs, () => {
      this.#pending = false
      this.#send(this.#read())
    })
  }

  /** The room is over: nobody waits any more. */
  end(): void {
    this.#send([])
  }

  #send(people: WaitingPerson[]): void {
    if (people.length > 0 || this.#named) this.#report(people)
    this.#named = people.length > 0
  }
}
