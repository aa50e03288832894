import type { LeaderChange } from '../event-log/sources/controllers.ts'
import type { KnownController } from '../store/election/site-member.ts'

/** That another controller leads, for the event log. */
export interface NewLeader {
  id: string
  name: string
  /** Name of the leader before. */
  from: string
  why: LeaderChange
}

/** Leaders of the site, as a program remembers them in either of its roles. */
export class LeaderHistory {
  #now: KnownController | undefined
  #unreported: NewLeader | undefined
  #named = ''

  /** @param self the controller of this program: of itself it knows whether it was `named` by the one before */
  note(leader: KnownController | undefined, self: { id: string; named: boolean }): void {
    if (leader === undefined) return
    const { id, name } = leader
    if (this.#now !== undefined && this.#now.id !== id) {
      const byHand = id === self.id ? self.named : id === this.#named
      // Why another one took over from a third is not known here.
      const why = byHand ? 'byHand' : id === self.id ? 'lost' : ''
      this.#unreported = { id, name, from: this.#now.name, why }
      this.#named = ''
    }
    this.#now = leader
  }

  /** This program hands over to that one. */
  handsOverTo(id: string): void {
    this.#named = id
  }

  /** The last change of the leader, returned once. */
  take(): NewLeader | undefined {
    const told = this.#unreported
    this.#unreported = undefined
    return told
  }
}
