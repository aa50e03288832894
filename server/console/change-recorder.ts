import type { ProcedureName } from '../../shared/console/contract.ts'
import type { EventParams } from '../../shared/console/event-values.ts'
import type { EventSubject } from '../../shared/console/events.ts'
import { changedRecords } from '../event-log/changed-records.ts'
import type { EventSink } from '../event-log/event-log.ts'
import { type PeopleNames, roomName, subjectOf } from '../event-log/site-state.ts'
import { causedBy, countChanges, type PlannedChange } from '../store/change-cause.ts'
import { pendingEvent } from '../store/pending-event.ts'
import type { StoredPendingEvent } from '../store/records.ts'
import type { Change, Store } from '../store/store.ts'
import { wallClock } from '../store/system/time.ts'
import { actorOf } from './call-actor.ts'
import type { AnyRecord, Named } from './change-record.ts'
import { changeRecords } from './change-records.ts'
import type { CallOrigin } from './handlers.ts'
import { RecentCalls } from './recent-calls.ts'

type StoredRecords = Extract<AnyRecord, { records: unknown }>
type StoredAct = Extract<AnyRecord, { within: unknown }>
type CallRecord = Exclude<
  AnyRecord,
  { records: unknown } | { within: unknown } | { recordedAs: unknown } | { unrecorded: unknown }
>

/** A call of a procedure. */
interface Call {
  name: ProcedureName
  /** As the procedure's schema makes it. */
  input: Parameters<StoredAct['about']>[0]
  origin: CallOrigin
}

/** Records in the event log what procedures change: who, from where, and how it was before and after. Events of stored changes are part of their transactions. */
export class ChangeRecorder {
  readonly #store: Pick<Store, 'get' | 'unseal'>
  readonly #sink: EventSink
  readonly #names: PeopleNames
  readonly #calls = new RecentCalls()

  constructor(store: Pick<Store, 'get' | 'unseal'>, sink: EventSink, names: PeopleNames) {
    this.#store = store
    this.#sink = sink
    this.#names = names
  }

  /** Runs a call and records what it changes. @throws what the call throws */
  async run(name: ProcedureName, input: unknown, origin: CallOrigin, run: () => unknown): Promise<unknown> {
    // The table is typed name by name; a name that is only known at run time needs it untyped once.
    const record = (changeRecords as unknown as Partial<Record<ProcedureName, AnyRecord>>)[name]
    const call: Call = { name, input: input as Call['input'], origin }
    if (record === undefined || 'recordedAs' in record || 'unrecorded' in record) return await run()
    if ('records' in record || 'within' in record) return await this.#runStored(call, record, run)
    const output = await run()
    this.#recordAfter(call, record, output)
    return output
  }

  async #runStored(call: Call, record: StoredRecords | StoredAct, run: () => unknown): Promise<unknown> {
    let isRunning = true
    let isRecorded = false
    const eventsOf = (planned: PlannedChange): Change[] => {
      // Work that outlives the call changes the store on its own account.
      if (!isRunning) return []
      const events = 'records' in record ? this.#ofRecords(call, record, planned) : this.#ofAct(call, record, planned)
      isRecorded ||= events.length > 0
      return events.map(pendingEvent)
    }
    try {
      const output = await causedBy({ eventsOf }, run)
      if (!isRecorded && 'within' in record)
        for (const event of this.#actEvents(call, record, undefined)) this.#sink.append(event)
      return output
    } finally {
      isRunning = false
    }
  }

  #ofRecords(call: Call, { records, facts }: StoredRecords, planned: PlannedChange): StoredPendingEvent[] {
    return changedRecords(planned, records, this.#store).map(({ subject, ...fields }) => ({
      ...this.#event(call, subject, facts?.(call.input, planned)),
      ...fields,
    }))
  }

  #ofAct(call: Call, record: StoredAct, planned: PlannedChange): StoredPendingEvent[] {
    const { within } = record
    if (within !== 'any' && countChanges(planned, within) === 0) return []
    return this.#actEvents(call, record, planned)
  }

  /** @param planned undefined: the call had nothing to change */
  #actEvents(call: Call, { about, facts, room }: StoredAct, planned: PlannedChange | undefined): StoredPendingEvent[] {
    const roomId = room?.(call.input) ?? ''
    return about(call.input, call.origin, planned?.before ?? this.#store).map((named) =>
      this.#event(call, this.#subject(named, roomId), facts?.(call.input, planned), roomId),
    )
  }

  #recordAfter(call: Call, record: CallRecord, output: unknown): void {
    const { input, origin } = call
    const answer = output as Parameters<NonNullable<CallRecord['params']>>[1]
    const roomId = record.room?.(input) ?? ''
    const facts = record.params?.(input, answer)
    const { acts, kind = 'site.changed' } = record
    for (const { user_id: id, user_name: name } of acts?.people(answer) ?? [])
      this.#sink.append({ ...this.#event(call, { type: 'person', id, name }, facts, roomId), kind: acts?.kind ?? kind })
    const failed = new Set(record.failed?.(answer))
    const named = record.about?.(input, origin, this.#store).filter(({ id }) => !failed.has(id)) ?? []
    for (const one of [...named, ...(record.makes?.(answer) ?? [])]) {
      const event = this.#event(call, this.#subject(one, roomId), facts, roomId)
      const goesOn = record.goesOn !== undefined && this.#calls.goesOn(call.name, event.actor, event.subject)
      if (!goesOn || record.goesOn?.(input) !== true) this.#sink.append({ ...event, kind })
    }
  }

  #event({ name, origin }: Call, subject: EventSubject, facts: EventParams = {}, room = '') {
    const inRoom: EventParams = room === '' ? {} : { room: roomName(this.#store, room) }
    const { token, tokenId = '' } = origin
    const byToken: EventParams = token === undefined ? {} : { token_label: token, token_id: tokenId }
    const params = { procedure: name, ...inRoom, ...byToken, ...facts }
    return { at: wallClock(), kind: 'site.changed', actor: actorOf(origin), subject, room, params } as const
  }

  #subject({ type, id }: Named, room: string): EventSubject {
    if (type === 'person') return { type, id, name: this.#names.of(room, id) }
    return subjectOf(this.#store, type, id)
  }
}
