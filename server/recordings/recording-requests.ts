import type { RecordedQuality } from '../../shared/recordings/segment.ts'

/** Request to record a stream in addition to the rules, by an API client or by viewers of a live stream. */
export interface RecordingRequest {
  /**
   * Unique among all requests; a request with the same id replaces it. Starts with the kind of its author, e.g.
   * `record:…` or `live:…`.
   */
  id: string
  roomId: string
  /** Person or camera, present or not; undefined: every stream of the room. */
  userId?: string | undefined
  /** For cameras only; undefined: `main`. */
  quality?: RecordedQuality | undefined
  /**
   * Set if the request is only for live viewing. Segments without another purpose are deleted this long after their
   * end, in milliseconds, and the time line does not show them. Undefined: the retention applies.
   */
  windowMs?: number | undefined
  /** Author shown in the console; undefined: viewers of a live stream. `order`: an operator. */
  orderedBy?: { by: 'client' | 'order'; name: string } | undefined
}

/** Active requests. They are only in memory: after a restart their authors make them again. */
export interface RecordingRequests {
  /**
   * Checks whether a room can be recorded now.
   * @throws ApiError roomNotFound; recordingUnavailable with a refusal if the node of the room cannot record, recording
   * is off, or the disk is full
   */
  check(roomId: string): void
  /** Records, whenever the room can be recorded, until the request is removed. */
  put(request: RecordingRequest): void
  /** Does nothing if the request does not exist. */
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
   * Adds a request, or replaces the one with its id. Returns the room of the replaced request; undefined if there was
   * none.
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
