import { declarationOf, type ProcedureName } from '../../shared/console/contract.ts'
import type { EventParams } from '../../shared/domain/event-values.ts'
import type { EventSubject } from '../../shared/domain/events.ts'
import type { CallEvents, RecordEvents, SubjectRef, TransactionEvents } from '../../shared/console/procedure-events.ts'
import type { EventSink } from '../event-log/event-log.ts'
import { changedRecords, type PeopleNames, roomName, subjectOf } from '../event-log/site-state.ts'
import type { RecordReader } from '../store/capability-rules.ts'
import { causedBy, countChanges, type PlannedChange } from '../store/change-cause.ts'
import { pendingEvent } from '../store/transactions/job.ts'
import type { StoredPendingEvent } from '../store/records.ts'
import type { Change, Store } from '../store/store.ts'
import { wallClock } from '../store/system/time.ts'
import { actorOf, type AnyImplementation, type CallOrigin } from './handlers.ts'
import { LRUCache } from 'lru-cache'
import type { EventActor } from '../../shared/domain/event-actor.ts'
import { growingTo } from '../../shared/growing-cache.ts'

interface Call {
  name: ProcedureName
  /** Input after validation by the procedure's schema. */
  input: unknown
  origin: CallOrigin
  /** Parts of the event that the declaration leaves to the implementation. */
  implementation: Pick<AnyImplementation, 'subjects' | 'facts'>
}

type StoredEvents = RecordEvents<unknown> | TransactionEvents<unknown>

/**
 * Records changes by procedures in the event log: the caller, their address, and the fields before and after. Events of
 * stored changes are part of their transactions.
 */
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

  /** Runs a call and records its changes. @throws errors of the call */
  async run(call: Call, run: () => unknown): Promise<unknown> {
    const { event } = declarationOf(call.name)
    if (event === undefined || 'recordedAs' in event || 'unrecorded' in event) return await run()
    if (event.records !== undefined || event.collection !== undefined) return await this.#runStored(call, event, run)
    const output = await run()
    this.#recordAfter(call, event, output)
    return output
  }

  async #runStored(call: Call, declared: StoredEvents, run: () => unknown): Promise<unknown> {
    let isRunning = true
    let isRecorded = false
    const eventsOf = (planned: PlannedChange): Change[] => {
      // Ignores changes by background work that continues after the call.
      if (!isRunning) return []
      const events =
        declared.records !== undefined
          ? this.#ofRecords(call, declared, planned)
          : this.#ofTransaction(call, declared, planned)
      isRecorded ||= events.length > 0
      return events.map(pendingEvent)
    }
    try {
      const output = await causedBy({ eventsOf }, run)
      if (!isRecorded && declared.collection !== undefined)
        for (const event of this.#transactionEvents(call, declared, undefined)) this.#sink.append(event)
      return output
    } finally {
      isRunning = false
    }
  }

  #ofRecords(call: Call, declared: RecordEvents<unknown>, planned: PlannedChange): StoredPendingEvent[] {
    return changedRecords(planned, declared.records, this.#store).map(({ subject, ...fields }) => ({
      ...this.#event(call, subject, storedFacts(call, declared, planned)),
      ...fields,
    }))
  }

  #ofTransaction(call: Call, declared: TransactionEvents<unknown>, planned: PlannedChange): StoredPendingEvent[] {
    const { collection } = declared
    if (collection !== 'any' && countChanges(planned, collection) === 0) return []
    return this.#transactionEvents(call, declared, planned)
  }

  /** @param planned undefined: the call changed nothing */
  #transactionEvents(
    call: Call,
    declared: TransactionEvents<unknown>,
    planned: PlannedChange | undefined,
  ): StoredPendingEvent[] {
    const roomId = declared.room?.(call.input) ?? ''
    return subjectsOf(call, declared, planned?.before ?? this.#store).map((ref) =>
      this.#event(call, this.#subject(ref, roomId), storedFacts(call, declared, planned), roomId),
    )
  }

  #recordAfter(call: Call, declared: CallEvents<unknown, unknown>, output: unknown): void {
    const { input } = call
    const roomId = declared.room?.(input) ?? ''
    const facts = declared.facts?.(input, output)
    const { acts, kind = 'site.changed' } = declared
    for (const { user_id: id, user_name: name } of acts?.people(output) ?? [])
      this.#sink.append({ ...this.#event(call, { type: 'person', id, name }, facts, roomId), kind: acts?.kind ?? kind })
    const failed = new Set(declared.failed?.(output))
    const named = subjectsOf(call, declared, this.#store).filter(({ id }) => !failed.has(id))
    for (const ref of [...named, ...(declared.made?.(output) ?? [])]) {
      const event = this.#event(call, this.#subject(ref, roomId), facts, roomId)
      const continues = declared.continues !== undefined && this.#calls.goesOn(call.name, event.actor, event.subject)
      if (!continues || declared.continues?.(input) !== true) this.#sink.append({ ...event, kind })
    }
  }

  #event({ name, origin }: Call, subject: EventSubject, facts: EventParams = {}, room = '') {
    const inRoom: EventParams = room === '' ? {} : { room: roomName(this.#store, room) }
    const { token, tokenId = '' } = origin
    const byToken: EventParams = token === undefined ? {} : { token_label: token, token_id: tokenId }
    const params = { procedure: name, ...inRoom, ...byToken, ...facts }
    return { at: wallClock(), kind: 'site.changed', actor: actorOf(origin), subject, room, params } as const
  }

  #subject({ type, id }: SubjectRef, room: string): EventSubject {
    if (type === 'person') return { type, id, name: this.#names.of(room, id) }
    return subjectOf(this.#store, type, id)
  }
}

function subjectsOf(
  { input, origin, implementation }: Call,
  { subjects }: Pick<CallEvents<unknown, unknown>, 'subjects'>,
  store: RecordReader,
): readonly SubjectRef[] {
  if (subjects === 'byImplementation') return implementation.subjects?.(input, store) ?? []
  return subjects?.(input, origin) ?? []
}

/** @param planned undefined: the call changed nothing */
function storedFacts(
  { input, implementation }: Call,
  declared: StoredEvents,
  planned: PlannedChange | undefined,
): EventParams {
  const counted =
    declared.collection !== undefined && declared.collection !== 'any' && declared.counts !== undefined
      ? { [declared.counts]: planned === undefined ? 0 : countChanges(planned, declared.collection) }
      : {}
  const { facts } = declared
  if (facts === 'byImplementation') return { ...counted, ...implementation.facts?.(input, planned) }
  return { ...counted, ...facts?.(input) }
}

/** Maximum interval between two calls that are logged as one, in milliseconds. */
const togetherMs = 5 * 60_000
/** Maximum number of pairs of caller and subject that are cached. */
const maxRemembered = 1_000

/**
 * Cache of recent calls, so that a download in several parts, or watching a meeting, creates only one entry in the
 * event log.
 */
class RecentCalls {
  /** Time of the last call by caller and subject, in milliseconds of `performance.now()`. */
  readonly #times = new LRUCache<string, number>(growingTo(maxRemembered))

  /**
   * Records a call.
   * @returns whether the same caller made the same call on the same subject within the last five minutes
   */
  goesOn(procedure: string, actor: EventActor, subject: EventSubject): boolean {
    const key = JSON.stringify([procedure, actor.name, actor.address, subject.type, subject.id])
    const now = performance.now()
    const before = this.#times.get(key)
    this.#times.set(key, now)
    return before !== undefined && now - before < togetherMs
  }
}
