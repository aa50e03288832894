import type { EventActor } from '../../shared/domain/event-actor.ts'
import type { Store } from '../store/store.ts'
import type { ManualRecording, StartedBy } from './recording-control.ts'
import type { RecordEvent, RecordingEvent } from './recording-events.ts'
import type { WantedTarget } from './wanted-streams.ts'

/** Time after the start of a controller in which starting rules are not reported as events, in milliseconds. */
const quietMs = 30_000
const system: EventActor = { type: 'system', name: '', address: '' }

type TargetKind = Extract<RecordingEvent['kind'], 'recording.started' | 'recording.stopped'>

/**
 * Writes an event when a rule starts or stops recording a room. Cameras recorded by a rule cause no events: their time
 * line shows the recordings.
 */
export class TargetEvents {
  readonly #store: Pick<Store, 'get'>
  readonly #event: RecordEvent
  #quietUntil = 0

  constructor(store: Pick<Store, 'get'>, event: RecordEvent) {
    this.#store = store
    this.#event = event
  }

  start(): void {
    this.#quietUntil = Date.now() + quietMs
  }

  changed(roomId: string, before: readonly WantedTarget[], after: readonly WantedTarget[]): void {
    const [was, is] = [before, after].map((targets) => targets.some(({ userId, by }) => userId === '' && by === 'rule'))
    if (was === is || Date.now() < this.#quietUntil) return
    const kind = is === true ? 'recording.started' : 'recording.stopped'
    this.#event(targetEvent(this.#store, kind, { roomId }, { actor: system, by: 'rule' }))
  }
}

/** Returns the event of a recording started or stopped manually. */
export function manualEvent(
  store: Pick<Store, 'get'>,
  kind: TargetKind,
  manual: ManualRecording,
  { by, name, address = '' }: StartedBy,
): RecordingEvent {
  return targetEvent(store, kind, manual, { actor: { type: by, name, address }, by })
}

/** Returns the event of a recording that ended with its meeting. */
export function meetingEndedEvent(store: Pick<Store, 'get'>, manual: ManualRecording): RecordingEvent {
  return targetEvent(store, 'recording.stopped', manual, { actor: system, by: 'meetingEnded' })
}

function targetEvent(
  store: Pick<Store, 'get'>,
  kind: TargetKind,
  { roomId, userId = '' }: ManualRecording,
  { actor, by }: { actor: EventActor; by: string },
): RecordingEvent {
  const topic = store.get('rooms', roomId)?.topic ?? ''
  const device = store.get('devices', userId)
  const subject =
    userId === ''
      ? ({ type: 'room', id: roomId, name: topic } as const)
      : ({ type: device === undefined ? 'person' : 'device', id: userId, name: device?.userName ?? userId } as const)
  return { kind, actor, subject, room: userId === '' ? '' : roomId, params: { by, room: topic } }
}
