import type { EventEntry } from '../../../shared/domain/events.ts'
import type { EffectEvent, OperationEffect } from '../../../shared/operation.ts'
import { allOperations } from '../../../shared/operations.ts'
import type { ApiCaller } from '../../http/operation.ts'
import type { ApiExchange, OperationCause, OperationCauses } from '../../http/exchange.ts'
import type { Observation, RequestObserver } from '../../observe/observation.ts'
import type { RecordReader } from '../../store/capability-rules.ts'
import type { PlannedChange } from '../../store/change-cause.ts'
import { pendingEvent } from '../../store/transactions/job.ts'
import type { Change, CollectionName, Store } from '../../store/store.ts'
import { wallClock } from '../../store/system/time.ts'
import type { GatedSink } from '../gathering-sink.ts'
import { changedRecords, type PeopleNames, recordTypeOf, roomName, subjectOf } from '../site-state.ts'

type Effect = Exclude<OperationEffect, string>

/** Operations that cause an event, by name. */
const effects: ReadonlyMap<string, Effect> = new Map(
  allOperations.flatMap(({ name, effect }) => (typeof effect === 'string' ? [] : [[name, effect] as const])),
)

/** Change of a record that shows the effect of an operation. */
type EffectChange = readonly [collection: CollectionName, how: 'made' | 'changed' | 'deleted']

/** Record change of each effect, by event. */
const changeOfEffect: Readonly<Record<EffectEvent, EffectChange>> = {
  'room.created': ['rooms', 'made'],
  'room.changed': ['rooms', 'changed'],
  'room.deleted': ['rooms', 'deleted'],
  'device.added': ['devices', 'made'],
  'device.deleted': ['devices', 'deleted'],
  // The removal of a person is stored with the room.
  'person.removed': ['rooms', 'changed'],
  'link.made': ['capabilities', 'made'],
  'recording.ordered': ['recordings', 'made'],
  'recording.orderEnded': ['recordings', 'changed'],
  'recording.orderDeleted': ['recordings', 'deleted'],
  'live.ordered': ['lives', 'made'],
  'live.ended': ['lives', 'changed'],
  'live.deleted': ['lives', 'deleted'],
}

/**
 * Effects that are already in place when a call is repeated. A client or a replica repeats a call after a lost
 * response: only the first call causes an event.
 */
const foundByRepetition: ReadonlySet<EffectEvent> = new Set(['recording.orderEnded', 'live.ended'])

interface OperationCall {
  operation: string
  room: string
  /** Id of the subject as the caller gave it; undefined: the call gives none. */
  id: string | undefined
  credential: string
  client: string
  /** Key of the changed record that shows the effect; undefined: no change. */
  key?: string
}

/**
 * Records changes that clients make over the APIs. An event is stored in the transaction of its change; without a
 * change, the event is logged after the response. Requests without an effect cost one map lookup.
 */
export class ClientEvents implements RequestObserver, OperationCauses {
  readonly #store: RecordReader & Pick<Store, 'unseal'>
  readonly #sink: GatedSink
  readonly #names: PeopleNames

  constructor(store: RecordReader & Pick<Store, 'unseal'>, sink: GatedSink, names: PeopleNames) {
    this.#store = store
    this.#sink = sink
    this.#names = names
  }

  observe(observation: Observation): void {
    if (observation.ret !== 0 || observation.isRecorded === true) return
    const effect = effects.get(observation.operation)
    if (effect === undefined || foundByRepetition.has(effect.event)) return
    const { operation, room, params, credential, client } = observation
    const call = { operation, room, id: givenId(effect, params), credential, client }
    this.#sink.append(this.#eventOf(call, effect, this.#store))
  }

  of(
    operation: string,
    { room, parameters }: Pick<ApiExchange, 'room' | 'parameters'>,
    { client, accessKey: credential }: ApiCaller,
  ): OperationCause | undefined {
    const effect = effects.get(operation)
    if (effect === undefined) return undefined
    // In a flood, only the number of calls is logged: `observe` counts the call after its response.
    if (this.#sink.isFlooded(effect.event) && !foundByRepetition.has(effect.event)) return undefined
    // The cause keeps the id alone: the other parameters may hold a login.
    const id = givenId(effect, parameters)
    const cause = {
      isRecorded: false,
      eventsOf: (planned: PlannedChange): Change[] => {
        const found = effectIn(planned, effect)
        if (found === undefined) return []
        cause.isRecorded = true
        const { key, reader } = found
        const call = { operation, room: room === '' ? found.room : room, id, credential, client, key }
        const event = this.#sink.passing(effect.event, () => ({
          ...this.#eventOf(call, effect, reader),
          ...this.#valuesOf(planned, effect, key),
        }))
        return event === undefined ? [] : [pendingEvent(event)]
      },
    }
    return cause
  }

  /**
   * Returns the values that an operation changes or deletes in the subject of its event. New records have no previous
   * values: this keeps floods of creations cheap.
   */
  #valuesOf(planned: PlannedChange, { event, subject }: Effect, key: string): Pick<EventEntry, 'before' | 'after'> {
    const [collection, how] = changeOfEffect[event]
    const type = recordTypeOf(collection)
    if (how === 'made' || type === undefined || type !== subject) return {}
    const changed = changedRecords(planned, [type], this.#store).find(({ subject: { id } }) => id === key)
    return changed === undefined ? {} : { before: changed.before, after: changed.after }
  }

  #eventOf(call: OperationCall, { event: kind, subject: type, id: parameter }: Effect, reader: RecordReader) {
    const { room, operation, credential, client, key } = call
    const actor = { type: 'client', name: credential, address: client } as const
    const about = { room: roomName(reader, room), operation }
    const at = wallClock()
    const id = parameter === undefined ? key : call.id
    if (type === 'room' || id === undefined)
      return { at, kind, actor, subject: subjectOf(reader, 'room', room), params: about }
    const found = subjectOf(reader, type, id)
    const subject = type === 'person' ? { ...found, name: this.#names.of(room, found.id) } : found
    return { at, kind, actor, subject, room, params: { ...about, id } }
  }
}

/** Returns the id that a call gives of the subject of its event; undefined: none. */
function givenId({ id: parameter }: Effect, parameters: Observation['params']): string | undefined {
  const given = parameter === undefined ? undefined : parameters.get(parameter)
  if (given === undefined) return undefined
  return typeof given === 'number' || typeof given === 'string' ? String(given) : ''
}

/** Change of a record that shows the effect of an operation. */
interface FoundEffect {
  key: string
  /** The changed room, or the room of the recording or live stream; empty: neither. */
  room: string
  /** Reader of the records that the event names. */
  reader: RecordReader
}

/** Finds the record change of an effect in a transaction; undefined: none. */
function effectIn({ changes, before, after }: PlannedChange, { event }: Effect): FoundEffect | undefined {
  const [collection, how] = changeOfEffect[event]
  const found = changes.find((change) => change.collection === collection && howOf(change, before) === how)
  if (found === undefined) return undefined
  const reader = how === 'deleted' ? before : after
  return { key: found.key, room: roomOf(reader, collection, found.key), reader }
}

function roomOf(reader: RecordReader, collection: CollectionName, key: string): string {
  if (collection === 'rooms') return key
  return collection === 'recordings' || collection === 'lives' ? (reader.get(collection, key)?.room_id ?? '') : ''
}

function howOf({ collection, key, value }: Change, before: RecordReader): EffectChange[1] {
  if (value === undefined) return 'deleted'
  return before.get(collection, key) === undefined ? 'made' : 'changed'
}
