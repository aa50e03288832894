import type { RecordedQuality } from '../../shared/recordings/segment.ts'

/** A request to record now, beside the rules: by a client of an API, or by viewers of a live stream. */
export interface RecordingRequest {
  /** Unique among all requests; another one with this id replaces it. Begins with its author, e.g. `record:…` or `live:…`. */
  id: string
  roomId: string
  /** A person, or an outgoing user (camera), now or when they come; left out: every stream of the room. */
  userId?: string | undefined
  /** Cameras only; left out: `main`. */
  quality?: RecordedQuality | undefined
  /**
   * Only for live viewing: segments that nothing else wants are deleted when they ended this long ago, in milliseconds, and the time line does not show them. Left out: they are
   * kept as the retention says.
   */
  windowMs?: number | undefined
  /** Who ordered it, for the console; left out: viewers of a live stream. `order`: an operator. */
  orderedBy?: { by: 'client' | 'order'; name: string } | undefined
}

/** Requests in force. They are in memory: whoever makes one makes it again after a start. */
export interface RecordingRequests {
  /**
   * Checks whether a room can be recorded now.
   * @throws ApiError roomNotFound; recordingUnavailable (the node of the room cannot record, recording is off, or the disk is full: its refusal says so)
   */
  check(roomId: string): void
  /** Records from now on, until the request is removed, whenever the room can be recorded. */
  put(request: RecordingRequest): void
  /** Nothing happens when there is none. */
  remove(id: string): void
}

/** Requests for recording by id and by room. */
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

  /** Adds a request, or replaces the one with its id. Returns the room of the one before; undefined: there was none. */
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

  /** Removes a request. Returns its room; undefined: it is not known. */
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

/** Rooms in which a user is recorded, by user. */
export class TargetedUsers {
  readonly #rooms = new Map<string, Set<string>>()

  /** Rooms in which this user is recorded. */
  roomsOf(userId: string): Iterable<string> {
    return this.#rooms.get(userId) ?? []
  }

  /** Notes that a room records other users than before. */
  replace(roomId: string, before: readonly string[], after: readonly string[]): void {
    for (const userId of before) {
      const rooms = this.#rooms.get(userId)
      rooms?.delete(roomId)
      if (rooms?.size === 0) this.#rooms.delete(userId)
    }
    for (const userId of after) {
      const rooms = this.#rooms.get(userId)
      if (rooms === undefined) this.#rooms.set(userId, new Set([roomId]))
      else rooms.add(roomId)
    }
  }
}
