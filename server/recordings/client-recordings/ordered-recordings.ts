import PQueue from 'p-queue'
import { unlessAborted } from '../../../shared/abort.ts'
import { limits } from '../../../shared/limits.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import type { Capabilities } from '../../capabilities/capabilities.ts'
import { clientOf, type NewCapability } from '../../capabilities/capability.ts'
import type { Rooms } from '../../rooms/room-lifecycle.ts'
import type { CapabilityMaker } from '../../store/capability-record.ts'
import { putEvent } from '../../store/transactions/job.ts'
import type { StoredPendingEvent } from '../../store/records.ts'
import type { StoredRecording } from '../../store/recording-records.ts'
import { sealedPlaceOf } from '../../store/sealed-places.ts'
import type { Store, Transaction } from '../../store/store.ts'
import { pauseOn, startTimer, wallClock } from '../../store/system/time.ts'
import type { RecordingRequests } from '../recording-control.ts'
import { type FileMakingDependencies, makeFiles, NoFileError } from './file-making.ts'
import { isRecorded, untilWritten } from './recorded-streams.ts'
import { RecordRemovals } from './record-files.ts'
import { checkOrder, StoredOrders } from './stored-orders.ts'

/** Order of a client or an operator to record streams. */
export interface OrderedRecordingRequest extends Pick<StoredRecording, 'room_id' | 'user_id' | 'sound' | 'picture'> {
  maker: CapabilityMaker
  /** Name of the operator, as stored in events; undefined: a client sent the order. */
  operator?: string | undefined
  name?: string | undefined
  tag?: string | undefined
  container?: 'mp4' | 'webm' | undefined
}

/** State of a recording in responses. `waiting`: no media has arrived yet. */
export type OrderedState = StoredRecording['state'] | 'waiting'

export interface OrderedRecordingsOptions extends FileMakingDependencies {
  store: Pick<Store, 'get' | 'all' | 'transact' | 'seal' | 'onChange' | 'leadership'>
  rooms: Pick<Rooms, 'get' | 'users'>
  requests: RecordingRequests
  /** Resolves when the index contains the recordings of earlier processes and other controllers. Never rejects. */
  recovered: () => Promise<void>
  capabilities: Pick<Capabilities, 'prepare' | 'put'>
  logger: { warn(fields: object, message: string): void; error(fields: object, message: string): void }
  /** Returns the current time, in milliseconds since the epoch. */
  clock?: () => number
}

/** Number of recordings whose files are made at the same time. */
const madeAtOnce = 2
/** Maximum wait for the last segment to be completed, in milliseconds. A recording rule may keep the segment open. */
const settleMs = 3_000
/** Maximum duration of a recording, in milliseconds; then it ends on its own. */
const maxMs = 24 * 60 * 60 * 1_000
/** Maximum time that `end` waits for the files, in milliseconds: clients of the API time out after 5 s. */
const stopPatienceMs = 3_500
/** Delay before retrying to store the finished files, in milliseconds. */
const retryMs = 2_000

/** Work that makes the files of a recording. */
interface Making {
  work: Promise<void>
  stop: AbortController
}

/**
 * Recordings ordered by clients of the APIs and by operators. Each recording has a start, an end and its own files. The
 * methods only write records; requests to the recorder, file making and file removal follow from the records.
 */
export class OrderedRecordings {
  readonly #options: OrderedRecordingsOptions
  readonly #clock: () => number
  /**
   * The stored recordings. Deleting a recording also deletes its files, and ends an active recording. The segments stay
   * until the retention deletes them.
   */
  readonly stored: StoredOrders<'recordings'>
  readonly #removals: RecordRemovals
  readonly #queue = new PQueue({ concurrency: madeAtOnce })
  readonly #making = new Map<string, Making>()
  #isClosed = false

  constructor(options: OrderedRecordingsOptions) {
    const { store, capabilities, logger, clock = wallClock } = options
    this.#options = options
    this.#clock = clock
    this.stored = new StoredOrders({
      ...{ store, capabilities, logger, clock, maxMs, collection: 'recordings', limit: limits.recordings },
      isActive: ({ state }) => state === 'recording',
      ended: (recording, ended_at) => ({ ...recording, state: 'finishing', ended_at }),
      deleted: ({ id, files, state }, transaction) => {
        if (state !== 'recording')
          transaction.put('recording_removals', id, { files: files.map(({ file }) => file), at: clock() })
      },
      apply: (id, recording) => this.#apply(id, recording),
    })
    this.#removals = new RecordRemovals({ ...{ store, logger, clock }, files: options.files })
  }

  start(): void {
    this.stored.start()
    this.#removals.start()
  }

  /** Stops all work. The next start resumes it from the records. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.stored.close()
    await Promise.all([this.#removals.close(), ...Array.from(this.#making.values(), ({ work }) => work)])
  }

  /** @throws ApiError roomNotFound, roomClosed, userNotOnline, recordingUnavailable, parameter, storage */
  async begin(request: OrderedRecordingRequest): Promise<StoredRecording> {
    await checkOrder(this.#options.rooms, request)
    this.#options.requests.check(request.room_id)
    const { recording, capability } = this.#newRecord(request)
    await this.stored.add(recording, capability)
    return recording
  }

  /**
   * Ends a recording and waits up to 3.5 s for its files. A recording that has already ended stays unchanged.
   * @throws ApiError recordingNotFound, storage
   */
  async end(id: string): Promise<StoredRecording> {
    await this.stored.end(id)
    const { promise: patience, resolve } = Promise.withResolvers<void>()
    const timer = startTimer(stopPatienceMs, resolve, false)
    await Promise.race([this.#making.get(id)?.work, patience])
    timer.cancel()
    return this.stored.get(id)
  }

  /**
   * Gives the files of a recording new addresses, which are valid as long as `maker` is. Earlier addresses become
   * invalid.
   * @throws ApiError recordingNotFound, tokenIncorrect, storage
   */
  async renew(id: string, maker: CapabilityMaker): Promise<StoredRecording> {
    return await this.stored.change(id, (before, transaction) => {
      const made = this.#prepareAddresses(before, maker)
      if (before.capability !== undefined) transaction.delete('capabilities', before.capability)
      this.#options.capabilities.put(transaction, made)
      return { ...before, ...this.#addressFields(id, made) }
    })
  }

  stateOf(recording: StoredRecording): OrderedState {
    if (recording.state !== 'recording') return recording.state
    return isRecorded(this.#options.index, recording, recording.created_at) ? 'recording' : 'waiting'
  }

  #apply(id: string, recording: StoredRecording | undefined): void {
    const { requests } = this.#options
    if (recording?.state === 'recording') requests.put(requestOf(recording))
    else requests.remove(requestId(id))
    if (recording?.state === 'finishing') this.#make(recording)
    else this.#making.get(id)?.stop.abort()
  }

  /** Makes the files of an ended recording unless they are being made already. */
  #make(recording: StoredRecording): void {
    const { id } = recording
    if (this.#making.has(id)) return
    const stop = new AbortController()
    const work = this.#queue
      .add(() => this.#makeFiles(recording, stop.signal), { signal: stop.signal })
      .catch((err: unknown) => {
        if (!stop.signal.aborted) this.#options.logger.error({ err, recording: id }, 'a recording was not finished')
      })
      .finally(() => {
        this.#making.delete(id)
        this.#makeAgain(id, stop.signal)
        // The recording was deleted while its files were being made.
        if (!this.#isClosed && this.#options.store.get('recordings', id) === undefined) this.#removals.sweep()
      })
    this.#making.set(id, { work, stop })
  }

  /** Makes the files again if the leadership was lost and regained while they were being made. */
  #makeAgain(id: string, { aborted }: AbortSignal): void {
    const { store } = this.#options
    const recording = store.get('recordings', id)
    if (aborted && !this.#isClosed && store.leadership.isHeld && recording?.state === 'finishing') this.#make(recording)
  }

  async #makeFiles(recording: StoredRecording, signal: AbortSignal): Promise<void> {
    const { index, files, recovered } = this.#options
    const { id, ended_at = this.#clock() } = recording
    try {
      // A new leader's index may not contain the recordings of the previous leader yet.
      await unlessAborted(recovered(), signal)
      await untilWritten(index, recording, ended_at, settleMs, signal)
      const made = await makeFiles(this.#options, recording, signal)
      const stored = await this.#finish(id, signal, (before) => ({ ...before, state: 'available', files: made }))
      if (!stored && !signal.aborted) await files.remove(made)
    } catch (error) {
      if (!signal.aborted) await this.#fail(recording, error, signal)
    }
  }

  async #fail(recording: StoredRecording, error: unknown, signal: AbortSignal): Promise<void> {
    const { logger } = this.#options
    const known = error instanceof NoFileError
    const reason = known ? error.message : 'Its file could not be written; the log of the controller says why.'
    logger.warn({ recording: recording.id, reason, ...(known ? {} : { err: error }) }, 'a recording failed')
    await this.#finish(recording.id, signal, (before, transaction) => {
      putEvent(transaction, failureOf(before, reason, this.#clock()))
      return { ...before, state: 'failed', reason }
    })
  }

  /**
   * Stores the result of a finished recording, and retries while the store fails. The files are kept until it is
   * certain whether the record contains them.
   * @returns false if the recording was deleted or `signal` aborted the attempts
   */
  async #finish(
    id: string,
    signal: AbortSignal,
    next: (before: StoredRecording, transaction: Transaction) => StoredRecording,
  ): Promise<boolean> {
    for (;;) {
      try {
        await this.stored.change(id, (before, transaction) =>
          before.state === 'finishing' ? next(before, transaction) : before,
        )
        return true
      } catch (err) {
        if (isGone(err) || signal.aborted) return false
        this.#options.logger.warn({ err, recording: id }, 'the end of a recording was not stored: retrying')
      }
      await pauseOn(retryMs, { signal })
      if (signal.aborted) return false
    }
  }

  #newRecord({ name = '', tag = '', container, maker, operator, ...request }: OrderedRecordingRequest): {
    recording: StoredRecording
    capability: NewCapability
  } {
    const id = this.stored.newId()
    const capability = this.#prepareAddresses({ ...request, id }, maker)
    const recording: StoredRecording = {
      ...{ id, name, tag, description: '', ...request, created_by: clientOf(maker) },
      ...(operator === undefined ? {} : { ordered_by: operator }),
      ...(container === undefined ? {} : { container }),
      state: 'recording',
      created_at: this.#clock(),
      ...this.#addressFields(id, capability),
      files: [],
    }
    return { recording, capability }
  }

  #prepareAddresses(
    { id, room_id, user_id }: Pick<StoredRecording, 'id' | 'room_id' | 'user_id'>,
    maker: CapabilityMaker,
  ): NewCapability {
    const draft = { kind: 'recording', recording: id, room_id, user_id, expires_at: 0 } as const
    return this.#options.capabilities.prepare(draft, maker)
  }

  #addressFields(
    id: string,
    { id: capability, token }: NewCapability,
  ): Pick<StoredRecording, 'token_sealed' | 'capability'> {
    return { token_sealed: this.#options.store.seal(token, sealedPlaceOf('recordings', id)), capability }
  }
}

function requestId(id: string): string {
  return `record:${id}`
}

/** The sound of a room requires the streams of all users. */
function requestOf(recording: StoredRecording): Parameters<RecordingRequests['put']>[0] {
  const { id, room_id: roomId, user_id, sound, created_by: client, ordered_by: operator = '' } = recording
  const orderedBy =
    client === '' ? ({ by: 'order', name: operator } as const) : ({ by: 'client', name: client } as const)
  return { id: requestId(id), roomId, orderedBy, ...(user_id === '' || sound === 'room' ? {} : { userId: user_id }) }
}

/** Whether the recording was deleted meanwhile. */
function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'recordingNotFound'
}

/** Returns the event of an ordered recording that produced no file. */
function failureOf(recording: StoredRecording, reason: string, at: number): StoredPendingEvent {
  const { id, name, room_id: room, created_by, ordered_by = '' } = recording
  return {
    at,
    kind: 'room.recordingFailed',
    level: 'warning',
    subject: { type: 'room', id: room, name: '' },
    actor:
      created_by === ''
        ? { type: 'operator', name: ordered_by, address: '' }
        : { type: 'client', name: created_by, address: '' },
    room,
    params: { recording: id, label: name, reason },
  }
}
