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
