import type { ProcedureName } from '../../shared/console/contract.ts'
import type { EventFields, EventSubject } from '../../shared/console/events.ts'
import { difference } from '../event-log/record-difference.ts'
import type { EventSink } from '../event-log/event-log.ts'
import type { PeopleNames } from '../event-log/people-names.ts'
import { roomName, stateOf, subjectOf } from '../event-log/site-state.ts'
import type { StoredDevice } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { ChangeRecord, Named } from './change-record.ts'
import { changeRecords } from './change-records.ts'
import { actorOf } from './call-actor.ts'
import type { CallOrigin } from './handlers.ts'
import { RecentCalls } from './recent-calls.ts'

/** Called when a procedure has succeeded. */
export type RecordChange = (output: unknown) => void

/** Writes into the event log what procedures change: who, from where, and how it was before and after. */
export class ChangeRecorder {
  readonly #store: Store
  readonly #sink: EventSink
  readonly #names: PeopleNames
  readonly #calls = new RecentCalls()

  constructor(store: Store, sink: EventSink, names: PeopleNames) {
    this.#store = store
    this.#sink = sink
    this.#names = names
  }

  /** Looks at what a call is about to change; undefined when it changes nothing. `input` has the form that the procedure's schema makes. */
  before(name: ProcedureName, input: unknown, origin: CallOrigin): RecordChange | undefined {
    // The table is typed name by name; a name that is only known at run time needs it untyped once.
    const records = changeRecords as unknown as Partial<Record<ProcedureName, ChangeRecord<'rooms.close'>>>
    const record = records[name]
    if (record === undefined) return undefined
    const given = input as Parameters<NonNullable<typeof record.changes>>[0]
    const room = record.room?.(given) ?? ''
    const named = (record.changes?.(given, origin, this.#store) ?? []).map((one) => this.#subject(one, room))
    const states = named.map((subject) => stateOf(this.#store, subject))
    // Values are never changed in place, so the map alone keeps how all of them were.
    const devices = name === 'devices.import' ? new Map(this.#store.all('devices')) : undefined
    return (output) => {
      const answer = output as Parameters<NonNullable<typeof record.makes>>[0]
      const failed = new Set(record.failed?.(answer))
      const made = (record.makes?.(answer) ?? []).map((one) => this.#subject(one))
      const inRoom: EventFields = room === '' ? {} : { room: roomName(this.#store, room) }
      const token: EventFields =
        origin.token === undefined ? {} : { token_label: origin.token, token_id: origin.tokenId ?? '' }
      const params = { procedure: name, ...inRoom, ...token, ...record.params?.(given, answer) }
      for (const { user_id: id, user_name } of record.acts?.people(answer) ?? []) {
        const subject = { type: 'person', id, name: user_name } as const
        this.#sink.append({ kind: record.acts?.kind ?? 'site.changed', actor: actorOf(origin), subject, room, params })
      }
      const tell = (subject: EventSubject, state: object | undefined): void => {
        const actor = actorOf(origin)
        if (record.goesOn !== undefined && this.#calls.goesOn(name, actor, subject) && record.goesOn(given)) return
        if (record.watches) return this.#sink.append({ kind: 'meeting.watched', actor, subject, params })
        if (record.shows) return this.#sink.append({ kind: 'secret.shown', actor, subject, params })
        const changes = difference(state, stateOf(this.#store, subject))
        if (changes === undefined && !record.always) return
        // Its name now, if it has one yet.
        const now = this.#subject(subject, room)
        const shown = now.name === '' ? subject : now
        this.#sink.append({ kind: 'site.changed', actor, subject: shown, room, params, ...changes })
      }
      for (const [index, subject] of named.entries()) if (!failed.has(subject.id)) tell(subject, states[index])
      for (const subject of made) tell(subject, beforeImport(devices, subject))
    }
  }

  #subject({ type, id }: Named, room = ''): EventSubject {
    if (type === 'person') return { type, id, name: this.#names.of(room, id) }
    return subjectOf(this.#store, type, id)
  }
}

function beforeImport(
  devices: ReadonlyMap<string, StoredDevice> | undefined,
  { id }: EventSubject,
): object | undefined {
  return devices?.get(id)
}
