import type { LeaderChange } from '../event-log/sources/controllers.ts'
import type { KnownController } from '../store/election/site-member.ts'

/** A change of the leader to another controller, for the event log. */
export interface NewLeader {
  id: string
  name: string
  /** Name of the previous leader. */
  from: string
  why: LeaderChange
}

/** Sequence of the site's leaders, as observed by a program in any role. */
export class LeaderHistory {
  #now: KnownController | undefined
  #unreported: NewLeader | undefined
  #named = ''

  /**
   * Records the current leader.
   * @param self this program's controller; `named`: whether the previous leader handed over to this controller
   */
  note(leader: KnownController | undefined, self: { id: string; named: boolean }): void {
    if (leader === undefined) return
    const { id, name } = leader
    if (this.#now !== undefined && this.#now.id !== id) {
      const byHand = id === self.id ? self.named : id === this.#named
      // The reason for a change between two other controllers is unknown here.
      const why = byHand ? 'byHand' : id === self.id ? 'lost' : ''
      this.#unreported = { id, name, from: this.#now.name, why }
      this.#named = ''
    }
    this.#now = leader
  }

  /** Records that this program hands over to another controller. */
  handsOverTo(id: string): void {
    this.#named = id
  }

  /** Returns the last change of the leader, and undefined at the next call. */
  take(): NewLeader | undefined {
    const unreported = this.#unreported
    this.#unreported = undefined
    return unreported
  }
}
