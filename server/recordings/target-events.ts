import type { EventActor } from '../../shared/console/events.ts'
import type { StoredRecordingWish } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { RecordingWish, StartedBy } from './recording-control.ts'
import type { RecordEvent } from './recording-events.ts'
import type { WantedTarget } from './wanted-streams.ts'

/** Rules that hold when a controller starts are no news for this time, in milliseconds. */
const quietMs = 30_000
const system: EventActor = { type: 'system', name: '', address: '' }

/** Writes into the event log when a recording begins and ends, and by whom. Cameras that a rule records are left out: their time line shows it. */
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

  started(wish: RecordingWish, by: StartedBy): void {
    this.#report('recording.started', wish, actorOf(by), by.by)
  }

  stopped(wish: RecordingWish, by: StartedBy): void {
    this.#report('recording.stopped', wish, actorOf(by), by.by)
  }

  /** The meeting of a wish is over. */
  ended({ room_id: roomId, user_id: userId }: StoredRecordingWish): void {
    this.#report('recording.stopped', { roomId, userId }, system, 'meetingEnded')
  }

  /** Reports rooms that a rule begins or ceases to record. */
  changed(roomId: string, before: readonly WantedTarget[], after: readonly WantedTarget[]): void {
    const [was, is] = [before, after].map((targets) => targets.some(({ userId, by }) => userId === '' && by === 'rule'))
    if (was === is || Date.now() < this.#quietUntil) return
    this.#report(is === true ? 'recording.started' : 'recording.stopped', { roomId }, system, 'rule')
  }

  #report(kind: 'recording.started' | 'recording.stopped', wish: RecordingWish, actor: EventActor, by: string): void {
    const { roomId, userId = '' } = wish
    const topic = this.#store.get('rooms', roomId)?.topic ?? ''
    const device = this.#store.get('devices', userId)
    const subject =
      userId === ''
        ? ({ type: 'room', id: roomId, name: topic } as const)
        : ({ type: device === undefined ? 'person' : 'device', id: userId, name: device?.userName ?? userId } as const)
    this.#event({ kind, actor, subject, room: userId === '' ? '' : roomId, params: { by, room: topic } })
  }
}

function actorOf({ by, name, address = '' }: StartedBy): EventActor {
  return { type: by, name, address }
}
