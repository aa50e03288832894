import type { EventKind } from '../../../shared/console/events.ts'
import type { Doer, HostAct } from '../../../shared/media/control.ts'
import type { HostActed, WantedInvite, WantedLock } from '../../nodes/embedded/embedded-media-options.ts'
import type { Store } from '../../store/store.ts'
import type { EventSink } from '../event-log.ts'
import { roomName, subjectOf } from '../site-state.ts'

const kinds: Record<HostAct, EventKind> = {
  letIn: 'person.letIn',
  turnedAway: 'person.turnedAway',
  mutedAll: 'room.mutedAll',
  ended: 'room.meetingEnded',
  removed: 'person.removed',
}

/** Writes who waits for the hosts of a room, what hosts do in their rooms, and which of them did it. */
export class HostSource {
  readonly #store: Pick<Store, 'get' | 'all' | 'unseal'>
  readonly #sink: EventSink

  constructor(store: Pick<Store, 'get' | 'all' | 'unseal'>, sink: EventSink) {
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

  /** Somebody begins to wait before a room. */
  waits(roomId: string, who: Doer): void {
    this.#sink.append({ kind: 'person.waits', ...this.#person(roomId, who) })
  }

  locked({ roomId, locked, by }: WantedLock): void {
    const subject = subjectOf(this.#store, 'room', roomId)
    this.#sink.append({ kind: locked ? 'room.locked' : 'room.unlocked', actor: actorOf(by), subject })
  }

  /** A host got a join link for anybody. */
  invited({ roomId, by }: WantedInvite): void {
    const subject = subjectOf(this.#store, 'room', roomId)
    this.#sink.append({ kind: 'room.invited', actor: actorOf(by), subject })
  }

  /** @param by left out: a client or the operator, whose acts are recorded as their own events */
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
