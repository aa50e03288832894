import type { RecordedQuality } from '../../shared/recordings/segment.ts'

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
