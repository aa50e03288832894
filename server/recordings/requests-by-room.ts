import type { RecordingRequest } from './recording-requests.ts'

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
