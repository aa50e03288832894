import { sleep } from '../../../shared/sleep.ts'
import PQueue from 'p-queue'
import { limits } from '../../../shared/limits.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import type { Rooms } from '../../rooms/room-lifecycle.ts'
import type { StoredRecording } from '../../store/records.ts'
import { placeOf } from '../../store/sealed-places.ts'
import type { Store } from '../../store/store.ts'
import type { RecordingRequests } from '../recording-requests.ts'
import { type FileMakingParts, makeFiles, NoFileError } from './file-making.ts'
import { newFileToken } from './record-files.ts'
import { isRecorded, untilWritten } from './recorded-streams.ts'
import { checkRegularly, checkWish, newOrderId } from './order-checks.ts'
import { matches, newestFirst, type OrderFilter, prunedBy } from './order-search.ts'

/** Wish of a client: the streams to record. */
export interface OrderedRecordingWish
  extends Pick<StoredRecording, 'room_id' | 'user_id' | 'sound' | 'picture' | 'created_by'> {
  name?: string | undefined
  tag?: string | undefined
  container?: 'mp4' | 'webm' | undefined
}

/** State of a recording as clients see it: waiting until the first media came. */
export type OrderedState = StoredRecording['state'] | 'waiting'

/** Needs of the recordings. */
export interface OrderedRecordingsOptions extends FileMakingParts {
  store: Pick<Store, 'get' | 'all' | 'transact' | 'seal' | 'onChange'>
  rooms: Pick<Rooms, 'get' | 'users'>
  requests: RecordingRequests
  /** Writes a failure into the event log. */
  failed: (recording: StoredRecording, reason: string) => void
  logger: { warn(fields: object, message: string): void; error(fields: object, message: string): void }
  /** Milliseconds since the epoch. */
  clock?: () => number
}

/** Files of this many recordings are made at once. */
const madeAtOnce = 2
/** Time for the last segment to be complete, in milliseconds; a rule may go on recording the same stream. */
const settleMs = 3_000
/** A recording that nobody stops ends after this. */
const maxMs = 24 * 60 * 60 * 1_000
/** Time for which `stop` waits for the files: clients of the API give up after 5 s. */
const stopPatienceMs = 3_500
const lock = 'recordings'

/** Recordings that clients of the APIs and operators order: each has a beginning, an end and files of its own. */
export class OrderedRecordings {
  readonly #options: OrderedRecordingsOptions
  readonly #clock: () => number
  readonly #making = new PQueue({ concurrency: madeAtOnce })
  readonly #ended = new AbortController()
  readonly #finishing = new Map<string, Promise<void>>()
  #stopChecks = (): void => {}

  constructor(options: OrderedRecordingsOptions) {
    this.#options = options
    this.#clock = options.clock ?? Date.now
  }

  /** Goes on with what was under way before the last stop. */
  start(): void {
    const { store } = this.#options
    for (const recording of store.all('recordings').values()) {
      if (recording.state === 'recording') void this.#resume(recording)
      else if (recording.state === 'finishing') void this.#finish(recording)
    }
    this.#stopChecks = checkRegularly(store, () => this.#check())
  }

  /** Ends the making of files; the next start begins it anew. */
  async close(): Promise<void> {
    this.#stopChecks()
    this.#ended.abort()
    await Promise.all(this.#finishing.values())
  }

  /** @throws ApiError roomNotFound, roomClosed, userNotOnline, recordingUnavailable, parameter, storage */
  async begin(wish: OrderedRecordingWish): Promise<StoredRecording> {
    const { store, requests } = this.#options
    await checkWish(this.#options.rooms, wish)
    const recording = this.#newRecord(wish)
    const { id } = recording
    requests.put(requestOf(recording))
    try {
      const { gone } = await store.transact([lock], (change) => {
        const gone = prunedBy(store.all('recordings'), limits.recordings - 1, ({ state }) => state !== 'recording')
        for (const { id: old } of gone) change.delete('recordings', old)
        change.put('recordings', id, recording)
        return { gone }
      })
      for (const old of gone) await this.#removeFiles(old)
    } catch (error) {
      requests.remove(requestId(id))
      throw error
    }
    return recording
  }

  /** Ends a recording, and waits a moment for its files; one that ended already stays as it is. @throws ApiError recordingNotFound, storage */
  async end(id: string): Promise<StoredRecording> {
    const ended = await this.#end(this.get(id))
    await Promise.race([this.#finish(ended), sleep(stopPatienceMs, { ref: false })])
    return this.get(id)
  }

  /** @throws ApiError recordingNotFound */
  get(id: string): StoredRecording {
    const recording = this.#options.store.get('recordings', id)
    if (recording === undefined) throw new ApiError('recordingNotFound')
    return recording
  }

  stateOf(recording: StoredRecording): OrderedState {
    if (recording.state !== 'recording') return recording.state
    return isRecorded(this.#options.index, recording, recording.created_at) ? 'recording' : 'waiting'
  }

  /** Recordings, the newest first. */
  list(filter: OrderFilter): StoredRecording[] {
    return newestFirst(this.#options.store.all('recordings')).filter((recording) => matches(recording, filter))
  }

  /** Deletes a recording with its files; what goes on ends. Segments stay as the retention says. @throws ApiError recordingNotFound, storage */
  async delete(id: string): Promise<StoredRecording> {
    const { store, requests } = this.#options
    const recording = this.get(id)
    await store.transact([lock], (change) => change.delete('recordings', id))
    requests.remove(requestId(id))
    await this.#removeFiles(recording)
    return recording
  }

  async #end(recording: StoredRecording): Promise<StoredRecording> {
    if (recording.state !== 'recording') return recording
    const ended = await this.#change(recording.id, (before) =>
      before.state === 'recording' ? { ...before, state: 'finishing', ended_at: this.#clock() } : before,
    )
    this.#options.requests.remove(requestId(recording.id))
    return ended
  }

  /** Makes the files once; never rejects. */
  #finish(recording: StoredRecording): Promise<void> {
    const { id } = recording
    if (recording.state !== 'finishing') return this.#finishing.get(id) ?? Promise.resolve()
    const running = this.#finishing.get(id)
    if (running !== undefined) return running
    const { signal } = this.#ended
    const work = this.#making
      .add(() => this.#make(recording, signal), { signal })
      .catch((error: unknown) => {
        if (!signal.aborted) this.#options.logger.error({ err: error, recording: id }, 'a recording was not finished')
      })
      .finally(() => this.#finishing.delete(id))
    this.#finishing.set(id, work)
    return work
  }

  async #make(recording: StoredRecording, signal: AbortSignal): Promise<void> {
    const { index, files } = this.#options
    const { id, ended_at = this.#clock() } = recording
    try {
      await untilWritten(index, recording, ended_at, settleMs, signal)
      const made = await makeFiles(this.#options, recording, signal)
      await this.#change(id, (before) => ({ ...before, state: 'available', files: made })).catch(
        async (error: unknown) => {
          await files.remove(made)
          throw error
        },
      )
    } catch (error) {
      if (signal.aborted || isGone(error)) return
      await this.#fail(recording, error)
    }
  }

  async #fail(recording: StoredRecording, error: unknown): Promise<void> {
    const { failed, logger } = this.#options
    const known = error instanceof NoFileError
    const reason = known ? error.message : 'Its file could not be written; the log of the controller says why.'
    logger.warn({ recording: recording.id, reason, ...(known ? {} : { err: error }) }, 'a recording failed')
    failed(recording, reason)
    await this.#change(recording.id, (before) => ({ ...before, state: 'failed', reason }))
  }

  /** @throws ApiError recordingNotFound, storage */
  async #change(id: string, next: (before: StoredRecording) => StoredRecording): Promise<StoredRecording> {
    return await this.#options.store.transact([lock], (change) => {
      const before = this.get(id)
      const after = next(before)
      if (after !== before) change.put('recordings', id, after)
      return after
    })
  }

  async #resume(recording: StoredRecording): Promise<void> {
    try {
      this.#options.requests.put(requestOf(recording))
    } catch (error) {
      this.#options.logger.warn({ err: error, recording: recording.id }, 'a recording does not go on')
      await this.#endInBackground(recording)
    }
  }

  /** Ends recordings whose room is gone, and those that nobody stopped. */
  #check(): void {
    const { store } = this.#options
    for (const recording of store.all('recordings').values()) {
      if (recording.state !== 'recording') continue
      const isOver = recording.created_at + maxMs < this.#clock()
      if (isOver || store.get('rooms', recording.room_id) === undefined) void this.#endInBackground(recording)
    }
  }

  async #endInBackground(recording: StoredRecording): Promise<void> {
    try {
      await this.#finish(await this.#end(recording))
    } catch (error) {
      this.#options.logger.warn({ err: error, recording: recording.id }, 'a recording could not be ended')
    }
  }

  async #removeFiles(recording: StoredRecording): Promise<void> {
    await this.#options.files.remove(recording.files).catch((error: unknown) => {
      this.#options.logger.warn({ err: error, recording: recording.id }, 'files of a recording could not be deleted')
    })
  }

  #newRecord({ name = '', tag = '', container, ...wish }: OrderedRecordingWish): StoredRecording {
    const { store } = this.#options
    const id = newOrderId(store.all('recordings'))
    return {
      ...{ id, name, tag, description: '', ...wish },
      ...(container === undefined ? {} : { container }),
      state: 'recording',
      created_at: this.#clock(),
      token_sealed: store.seal(newFileToken(), placeOf('recordings', id)),
      files: [],
    }
  }
}

function requestId(id: string): string {
  return `record:${id}`
}

/** The room's sound needs everybody. */
function requestOf({ id, room_id: roomId, user_id, sound }: StoredRecording): Parameters<RecordingRequests['put']>[0] {
  return { id: requestId(id), roomId, ...(user_id === '' || sound === 'room' ? {} : { userId: user_id }) }
}

/** The recording was deleted meanwhile. */
function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'recordingNotFound'
}
