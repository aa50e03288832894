import { BrokenPromise } from '../history.ts'
import type { ChangeListener } from '../../../server/store/store.ts'
import type { PendingEventsDependencies } from '../../../server/event-log/pending-events.ts'
import type { EventEntry } from '../../../shared/domain/events.ts'
import type { World } from '../world.ts'

/** What was stored of a scheduled room, by the kind of its event. */
const states: ReadonlyMap<string, string> = new Map([
  ['room.created', 'made'],
  ['room.openedBySchedule', 'open'],
  ['room.closedBySchedule', 'ended'],
])

/** Compares creations, openings and closings of scheduled rooms that were stored with those in the event log: each is there exactly once. Every room meets once. */
export class ScheduleWatch {
  readonly #world: World
  readonly #stored = new Set<string>()
  readonly #logged = new Map<string, number>()

  /** Ids of the logged events. */
  readonly #changes: string[] = []
  #isVoid = false

  constructor(world: World) {
    this.#world = world
  }

  /** Meetings may open and close again from now on: a clock was set, or the database lost something. */
  forget(): void {
    this.#isVoid = true
  }

  /** Follows the memory of a controller. */
  readonly changed: ChangeListener = (changes) => {
    for (const change of changes) {
      if (change.collection !== 'rooms') continue
      const mark = change.value?.schedule_mark
      if (change.value?.schedule !== undefined) this.#stored.add(`${change.key} made`)
      if (mark !== undefined) this.#stored.add(`${change.key} ${mark.state}`)
    }
  }

  /** The event log of the site. */
  readonly log: PendingEventsDependencies['log'] = {
    append: ({ kind, subject, change }) => {
      // The chain of a site skips what another controller has logged for the same change.
      if (change !== undefined && this.#changes.includes(change)) return
      if (change !== undefined) this.#changes.push(change)
      const state = states.get(kind)
      if (state !== undefined) this.#add(`${subject.id} ${state}`)
    },
    query: async () => {
      const items = this.#changes.map((change) => ({ change }) as EventEntry)
      return { items, next: 0, kept: items.length, newest: items.length, since: 0 }
    },
    sync: async () => 1,
  }

  #add(key: string): void {
    this.#world.note('EVENT', key)
    this.#logged.set(key, (this.#logged.get(key) ?? 0) + 1)
  }

  /** @throws BrokenPromise */
  check(): void {
    if (this.#isVoid) return
    for (const key of this.#stored) {
      const count = this.#logged.get(key) ?? 0
      if (count !== 1) this.#broken(`"${key}" was stored once, and is in the event log ${count} times`)
    }
    for (const key of this.#logged.keys())
      if (!this.#stored.has(key)) this.#broken(`"${key}" is in the event log, and was never stored`)
  }

  #broken(what: string): never {
    this.#world.note('HISTORY', what)
    throw new BrokenPromise(what)
  }
}
