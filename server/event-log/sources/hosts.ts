import type { EventKind } from '../../../shared/domain/events.ts'
import type { Doer } from '../../../shared/media/control.ts'
import type { HostAct } from '../../../shared/media/controller-methods.ts'
import type { HostActed, WantedInvite, WantedLock } from '../../nodes/embedded/embedded-media-options.ts'
import { causedBy, countChanges, type PlannedChange } from '../../store/change-cause.ts'
import { pendingEvent } from '../../store/transactions/job.ts'
import type { StoredPendingEvent } from '../../store/records.ts'
import type { Change, CollectionName, Store } from '../../store/store.ts'
import { wallClock } from '../../store/system/time.ts'
import type { GatedSink } from '../gathering-sink.ts'
import { roomName, subjectOf } from '../site-state.ts'

const kinds: Record<HostAct, EventKind> = {
  letIn: 'person.letIn',
  turnedAway: 'person.turnedAway',
  mutedAll: 'room.mutedAll',
  ended: 'room.meetingEnded',
  removed: 'person.removed',
}

/** Logs people who wait for the hosts of a room, and acts of hosts in their rooms. */
export class HostSource {
  readonly #store: Pick<Store, 'get' | 'all' | 'unseal'>
  readonly #sink: GatedSink

  constructor(store: Pick<Store, 'get' | 'all' | 'unseal'>, sink: GatedSink) {
    this.#store = store
    this.#sink = sink
  }

  acted({ roomId, act, by, who, count }: HostActed): void {
    const kind = kinds[act]
    if (who === undefined) {
      const subject = subjectOf(this.#store, 'room', roomId)
      return this.#sink.append({ kind, actor: actorOf(by), subject, params: { count } })
    }
    this.#sink.append({ kind, actor: actorOf(by), ...this.#person(roomId, who) })
  }

  /** Logs that a person starts to wait for admission to a room. */
  waits(roomId: string, who: Doer): void {
    this.#sink.append({ kind: 'person.waits', ...this.#person(roomId, who) })
  }

  /** Runs a host's lock or unlock of a room. */
  locking<T>(wanted: WantedLock, change: () => Promise<T>): Promise<T> {
    return this.#changing(wanted.locked ? 'room.locked' : 'room.unlocked', 'rooms', wanted, change)
  }

  /** Runs a host's creation of a join link for anybody. */
  inviting<T>(wanted: WantedInvite, change: () => Promise<T>): Promise<T> {
    return this.#changing('room.invited', 'capabilities', wanted, change)
  }

  /** Runs a change by a host; its event is stored with the transaction that changes the collection. */
  async #changing<T>(
    kind: EventKind,
    collection: CollectionName,
    { roomId, by }: WantedInvite,
    change: () => Promise<T>,
  ): Promise<T> {
    const subject = subjectOf(this.#store, 'room', roomId)
    const event = (): StoredPendingEvent => ({ at: wallClock(), kind, actor: actorOf(by), subject })
    let isRecorded = false
    const eventsOf = (planned: PlannedChange): Change[] => {
      if (isRecorded || countChanges(planned, collection) === 0) return []
      isRecorded = true
      const passing = this.#sink.passing(kind, event)
      return passing === undefined ? [] : [pendingEvent(passing)]
    }
    const result = await causedBy({ eventsOf }, change)
    if (!isRecorded) this.#sink.append(event())
    return result
  }

  /** @param by undefined: a client or the operator, whose acts have their own events */
  removed(roomId: string, who: Doer, by?: Doer): void {
    const actor = by === undefined ? {} : { actor: actorOf(by) }
    this.#sink.append({ kind: 'person.removed', ...actor, ...this.#person(roomId, who) })
  }

  #person(roomId: string, { userId, userName }: Doer) {
    const subject = { type: 'person', id: userId, name: userName } as const
    return { subject, room: roomId, params: { room: roomName(this.#store, roomId) } }
  }
}

function actorOf({ userName }: Doer) {
  return { type: 'host', name: userName, address: '' } as const
}
