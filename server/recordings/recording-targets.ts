import { shownName } from '../../shared/control-character.ts'
import type { RecordingTarget } from '../../shared/domain/recordings.ts'
import type { Store } from '../store/store.ts'
import type { RecorderIntake } from './recorder-intake.ts'
import type { ManualRecording, StartedBy } from './recording-control.ts'
import type { OrderPool, RecordingOrders } from './recording-orders.ts'
import { belongsTo } from './room-orders.ts'
import { hindranceOf, targetState } from './target-state.ts'
import type { WantedTarget } from './wanted-streams.ts'

interface TargetsDependencies {
  store: Pick<Store, 'get'>
  pool: Pick<OrderPool, 'presence'>
  orders: RecordingOrders
  /** Receiver of recorder reports; undefined: the recordings folder is unusable. */
  intake: RecorderIntake | undefined
}

/** Targets with their state, as screens and APIs show them. */
export class RecordingTargets {
  readonly #dependencies: TargetsDependencies

  constructor(dependencies: TargetsDependencies) {
    this.#dependencies = dependencies
  }

  /** Lists the targets of the given rooms, or of all rooms, that are ordered to be recorded. */
  list(roomIds: Iterable<string> = this.#dependencies.orders.rooms.rooms): RecordingTarget[] {
    const found: RecordingTarget[] = []
    for (const roomId of roomIds) {
      const room = this.#dependencies.orders.rooms.of(roomId)
      for (const target of room?.targets ?? []) {
        if (target.windowMs === undefined) found.push(this.#view(roomId, target, room?.since.get(target.userId) ?? 0))
      }
    }
    return found
  }

  /** Returns a target as shown immediately after its start, before its order is computed. */
  of({ roomId, userId = '' }: ManualRecording, { by, name }: StartedBy): RecordingTarget {
    const device = this.#dependencies.store.get('devices', userId) !== undefined
    const room = this.#dependencies.orders.rooms.of(roomId)
    const found = room?.targets.find((target) => target.userId === userId)
    const target = found ?? { userId, device, quality: 'main', by, startedBy: name, windowMs: undefined }
    return this.#view(roomId, target, room === undefined ? Date.now() : (room.since.get(userId) ?? 0))
  }

  #view(roomId: string, target: WantedTarget, since: number): RecordingTarget {
    const { store, pool } = this.#dependencies
    const { userId, device, quality, by, startedBy } = target
    const name = device ? store.get('devices', userId)?.userName : pool.presence.user(roomId, userId)?.userName
    const state = this.#stateOf(roomId, userId)
    return {
      room_id: roomId,
      user_id: userId,
      user_name: shownName(name ?? ''),
      topic: shownName(store.get('rooms', roomId)?.topic ?? ''),
      device,
      quality,
      by,
      started_by: startedBy,
      since,
      recording: state === 'recording',
      hindrance: hindranceOf(state),
    }
  }

  #stateOf(roomId: string, userId: string): ReturnType<typeof targetState> {
    const { pool, orders, intake } = this.#dependencies
    return targetState({
      ...orders.siteFacts(),
      isWriting: intake?.recordedNow(roomId).some((stream) => belongsTo({ userId }, stream)) ?? false,
      canRecord: orders.node(roomId).canRecord,
      isThere: userId === '' ? pool.presence.occupied(roomId) : pool.presence.user(roomId, userId) !== undefined,
    })
  }
}
