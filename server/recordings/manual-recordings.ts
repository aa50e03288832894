import type { StoredManualRecording } from '../store/recording-records.ts'
import type { CollectionName, Store, Transaction } from '../store/store.ts'
import { startTimer, type Timer, wallClock } from '../store/system/time.ts'
import { putEvent } from '../store/transactions/job.ts'
import type { ManualRecording, StartedBy } from './recording-control.ts'
import { manualEvent, meetingEndedEvent } from './recording-events.ts'

/** Returns the key of a manual recording in the store. */
function manualRecordingKey({ roomId, userId = '' }: ManualRecording): string {
  return JSON.stringify([roomId, userId])
}

/** Returns the name of the lock for the manual recordings of a room. */
function manualRecordingLock(roomId: string): string {
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

interface ManualRecordingEndingsDependencies {
  store: Pick<Store, 'get' | 'all' | 'transact' | 'onChange' | 'leadership'>
  logger: { error(fields: object, message: string): void }
}

/** Delay after a failed change of the store, in milliseconds. */
const retryMs = 2_000
/** Collections that determine when a manual recording ends. */
const deciding: readonly CollectionName[] = ['recording_wishes', 'meetings', 'rooms', 'devices']

/**
 * Ends manual recordings together with their meeting, room or camera. Whether a manual recording has ended is
 * determined from the stored records alone. A failed or unconfirmed change is therefore retried at every later change,
 * after a delay, and by the next leader.
 */
export class ManualRecordingEndings {
  readonly #dependencies: ManualRecordingEndingsDependencies
  readonly #stops: (() => void)[] = []
  #timer: Timer | undefined
  #isDue = false
  #work: Promise<void> | undefined

  constructor(dependencies: ManualRecordingEndingsDependencies) {
    this.#dependencies = dependencies
  }

  start(): void {
    const { store } = this.#dependencies
    this.#stops.push(
      store.onChange(() => this.#look(), deciding),
      store.leadership.onChange(() => this.#look()),
    )
    this.#look()
  }

  /** Resolves when no work is running. */
  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0)) stop()
    this.#timer?.cancel()
    await this.#work
  }

  #look(): void {
    if (this.#dependencies.store.all('recording_wishes').size === 0) return
    this.#isDue = true
    this.#work ??= this.#run()
  }

  /** Ends recordings until no change is pending. Never rejects. */
  async #run(): Promise<void> {
    // All changes of one event loop turn are handled together.
    await Promise.resolve()
    this.#timer?.cancel()
    try {
      while (this.#isDue && this.#stops.length > 0) {
        this.#isDue = false
        await this.#settle()
      }
    } catch (err) {
      this.#dependencies.logger.error({ err }, 'manual recordings were not ended: retrying')
      if (this.#stops.length > 0) this.#timer = startTimer(retryMs, () => this.#look(), false)
    }
    this.#work = undefined
  }

  async #settle(): Promise<void> {
    const { store } = this.#dependencies
    if (!store.leadership.isHeld) return
    const differing = [...store.all('recording_wishes')].filter(([, manual]) => this.#after(manual) !== manual)
    if (differing.length === 0) return
    const locks = new Set(differing.map(([, { room_id }]) => manualRecordingLock(room_id)))
    await store.transact([...locks], (transaction) => {
      for (const [key] of differing) this.#change(key, transaction)
    })
  }

  #change(key: string, transaction: Transaction): void {
    const { store } = this.#dependencies
    const manual = store.get('recording_wishes', key)
    const after = manual && this.#after(manual)
    if (manual === undefined || after === manual) return
    if (after !== undefined) return transaction.put('recording_wishes', key, after)
    transaction.delete('recording_wishes', key)
    const { room_id: roomId, user_id: userId, camera } = manual
    // The deletion or move of a room or camera has its own event.
    if (camera === true || store.get('rooms', roomId) === undefined) return
    putEvent(transaction, { at: wallClock(), ...meetingEndedEvent(store, { roomId, userId }) })
  }

  /** Returns the recording in its new state; undefined: the recording has ended. */
  #after(manual: StoredManualRecording): StoredManualRecording | undefined {
    const { store } = this.#dependencies
    const { room_id: roomId, user_id: userId } = manual
    if (store.get('rooms', roomId) === undefined) return undefined
    const isCameraThere = userId !== '' && store.get('devices', userId)?.roomId === roomId
    if (manual.camera === true) return isCameraThere ? manual : undefined
    // The record is from a version that did not mark cameras, or a camera now has the userId of a person.
    if (isCameraThere) return { ...manual, camera: true }
    const since = store.get('meetings', roomId)?.since
    // The recording was started before its meeting, which may have started now.
    if (manual.meeting === undefined) return since === undefined ? manual : { ...manual, meeting: since }
    // A meeting may turn out to have started earlier, because clocks of nodes differ. A later start means a new
    // meeting.
    return since === undefined || since > manual.meeting ? undefined : manual
  }
}
