import { putEvent } from '../store/transactions/job.ts'
import type { StoredManualRecording } from '../store/recording-records.ts'
import type { Store, Transaction } from '../store/store.ts'
import { wallClock } from '../store/system/time.ts'
import type { ManualRecording, StartedBy } from './recording-control.ts'
import { manualEvent } from './target-events.ts'

/** Returns the key of a manual recording in the store. */
function manualRecordingKey({ roomId, userId = '' }: ManualRecording): string {
  return JSON.stringify([roomId, userId])
}

/** Returns the name of the lock for the manual recordings of a room. */
export function manualRecordingLock(roomId: string): string {
  return `recording/${roomId}`
}

/**
 * Recordings started manually. The recordings are stored, so that they survive a restart of the controller. Events are
 * stored in the same transaction.
 */
export class ManualRecordings {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Returns the manual recordings of a room: of the whole room, of its cameras and people. */
  of(roomId: string): StoredManualRecording[] {
    const all = this.#store.all('recording_wishes')
    if (all.size === 0) return []
    return [...all.values()].filter((manual) => manual.room_id === roomId)
  }

  get rooms(): Set<string> {
    return new Set(Array.from(this.#store.all('recording_wishes').values(), ({ room_id }) => room_id))
  }

  /**
   * Stores a manual recording; an existing recording stays unchanged.
   * @throws ApiError roomNotFound; RefusalError recordingLimit
   */
  async add(manual: ManualRecording, by: StartedBy, at: number): Promise<void> {
    const store = this.#store
    const { roomId, userId = '' } = manual
    const key = manualRecordingKey(manual)
    await store.transact([manualRecordingLock(roomId)], (transaction) => {
      if (store.all('recording_wishes').has(key)) return
      const isCamera = store.get('devices', userId)?.roomId === roomId
      const meeting = isCamera ? undefined : store.get('meetings', roomId)?.since
      transaction.put('recording_wishes', key, {
        room_id: roomId,
        user_id: userId,
        by: by.by,
        name: by.name,
        at,
        ...(isCamera ? { camera: true } : {}),
        ...(meeting === undefined ? {} : { meeting }),
      })
      putEvent(transaction, { at: wallClock(), ...manualEvent(store, 'recording.started', manual, by) })
    })
  }

  /** Ends a manual recording, if there is one. */
  async remove(manual: ManualRecording, by: StartedBy): Promise<void> {
    const store = this.#store
    const key = manualRecordingKey(manual)
    await store.transact([manualRecordingLock(manual.roomId)], (transaction: Transaction) => {
      if (!store.all('recording_wishes').has(key)) return
      transaction.delete('recording_wishes', key)
      putEvent(transaction, { at: wallClock(), ...manualEvent(store, 'recording.stopped', manual, by) })
    })
  }
}
