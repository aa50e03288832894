import { RefusalError } from '../../shared/domain/outcome.ts'
import type { RecordingStarter, RecordingTarget } from '../../shared/domain/recordings.ts'
import { atLeast, type Role } from '../../shared/domain/roles.ts'
import type { RecordedQuality } from '../../shared/recordings/segment.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { RecordingViewers } from '../../shared/settings/recording.ts'
import type { WantedRecording } from '../nodes/embedded/embedded-media-options.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'

/** Room, camera or person to record. */
export interface ManualRecording {
  roomId: string
  /** Camera or person; undefined: every stream of the room. */
  userId?: string
}

/** Origin of a manual recording: a button or an API call. */
export interface StartedBy {
  by: Exclude<RecordingStarter, 'rule' | 'order'>
  /** Account, name of the host, or access_key. */
  name: string
  /** Network address; undefined if there is none. */
  address?: string
}

/** Starts and stops manual recordings. */
export interface RecordingControl {
  /**
   * Records until `stop`. The recording of a room or person also ends with the meeting. Manual recordings survive a
   * restart. A repeated call for the same target has no effect.
   * @throws ApiError roomNotFound; RefusalError recordingImpossible if the room's node cannot record
   */
  start(manual: ManualRecording, by: StartedBy): Promise<RecordingTarget>
  /** Ends a manual recording. @returns true if the target is no longer recorded; false if a rule still records it */
  stop(manual: ManualRecording, by: StartedBy): Promise<boolean>
  /** Called after `targets` changed. Returns the unsubscribe function. */
  onTargets(listener: (roomIds: readonly string[]) => void): () => void
}

/**
 * Whether a caller may see recordings of a stream. Operators and admins may see all recordings. The setting
 * `recording.viewers` determines which recordings viewers may see.
 * @param device whether the stream is from a camera, not from a person
 */
export function maySeeRecording(role: Role, viewers: RecordingViewers, device: boolean): boolean {
  return atLeast(role, 'operator') || viewers === 'all' || (viewers === 'cameras' && device)
}

interface HostRecordingDependencies {
  recordings: Pick<RecordingControl, 'start' | 'stop'>
  settings: () => Settings
  logger: NodeLogger
}

/**
 * Starts or stops the recording of a room for a host verified by its node. Resolves to false if hosts may not record,
 * the request failed, or a rule still records the room after a stop. Never rejects.
 */
export async function recordForHost(
  { recordings, settings, logger }: HostRecordingDependencies,
  { roomId, on, by }: WantedRecording,
): Promise<boolean> {
  if (!settings().recording.hosts) return false
  const host = { by: 'host', name: by.userName } as const
  try {
    if (!on) return await recordings.stop({ roomId }, host)
    await recordings.start({ roomId }, host)
    return true
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof RefusalError))
      logger.error({ err: error }, 'a room was not recorded for its host')
    return false
  }
}

/** Request to record a stream in addition to the rules, by an API client or by viewers of a live stream. */
export interface RecordingRequest {
  /**
   * Unique id, e.g. `record:…` or `live:…`: the prefix is the kind of author. A later request with the same id replaces
   * this request.
   */
  id: string
  roomId: string
  /** Person or camera, present or not; undefined: every stream of the room. */
  userId?: string | undefined
  /** For cameras only; undefined: `main`. */
  quality?: RecordedQuality | undefined
  /**
   * Time for which segments are kept after their end, in milliseconds, if they are only for live viewing. The time line
   * does not show these segments. undefined: the retention applies.
   */
  windowMs?: number | undefined
  /** Author shown in the console; undefined: viewers of a live stream. `order`: an operator. */
  orderedBy?: { by: 'client' | 'order'; name: string } | undefined
}

/** Active requests, in memory only: after a restart, the authors add their requests again. */
export interface RecordingRequests {
  /**
   * Checks whether a room can be recorded now.
   * @throws ApiError roomNotFound; recordingUnavailable with a refusal if the node of the room cannot record, recording
   * is off, or the disk is full
   */
  check(roomId: string): void
  /** Adds or replaces a request. The target is recorded, whenever possible, until the request is removed. */
  put(request: RecordingRequest): void
  /** Removes a request. Does nothing if the request does not exist. */
  remove(id: string): void
}

/** Recording requests by id and by room. */
export class RequestsByRoom {
  readonly #roomIds = new Map<string, string>()
  readonly #rooms = new Map<string, Map<string, RecordingRequest>>()

  /** Rooms with requests. */
  get rooms(): Iterable<string> {
    return this.#rooms.keys()
  }

  /** Lists the requests for a room. */
  of(roomId: string): RecordingRequest[] {
    return [...(this.#rooms.get(roomId)?.values() ?? [])]
  }

  /**
   * Adds a request, or replaces the request with the same id. Returns the room of the replaced request; undefined: no
   * request was replaced.
   */
  put(request: RecordingRequest): string | undefined {
    const { id, roomId } = request
    const before = this.#roomIds.get(id)
    if (before !== roomId) this.remove(id)
    this.#roomIds.set(id, roomId)
    const room = this.#rooms.get(roomId)
    if (room === undefined) this.#rooms.set(roomId, new Map([[id, request]]))
    else room.set(id, request)
    return before
  }

  /** Removes a request. Returns its room; undefined if it does not exist. */
  remove(id: string): string | undefined {
    const roomId = this.#roomIds.get(id)
    if (roomId === undefined) return undefined
    this.#roomIds.delete(id)
    const room = this.#rooms.get(roomId)
    room?.delete(id)
    if (room?.size === 0) this.#rooms.delete(roomId)
    return roomId
  }
}
