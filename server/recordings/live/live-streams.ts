import { ApiError } from '../../../shared/result-codes.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import type { RecordedStream } from '../../../shared/recordings/segment.ts'
import type { Capability } from '../../capabilities/capability.ts'
import type { RecordingRequests } from '../recording-requests.ts'
import { LiveStream, type LiveStreamParts } from './live-stream.ts'

/** Needs of all live streams. */
export interface LiveStreamsOptions extends LiveStreamParts {
  requests: RecordingRequests
}

/** A stream that nobody asked for in this time ends, in milliseconds. */
const idleMs = 20_000
const checkMs = 5_000
/** Segments of a stream that is recorded for viewers only are deleted after this, in milliseconds. */
export const windowMs = 90_000
/** Streams at once that a further viewer may begin: each keeps a table of fragments, and its camera is recorded. */
const maxStreams = 200

interface Running {
  stream: LiveStream
  usedAt: number
  /** Ids of live streams that clients ordered. */
  orders: Set<string>
}

/** Live streams that somebody watches or that a client ordered: each is recorded as long as that lasts. */
export class LiveStreams {
  readonly #options: LiveStreamsOptions
  readonly #running = new Map<string, Running>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: LiveStreamsOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer = setInterval(() => this.#check(), checkMs).unref()
  }

  close(): void {
    clearInterval(this.#timer)
    for (const key of [...this.#running.keys()]) this.#end(key)
  }

  /** Number of streams that run. */
  get size(): number {
    return this.#running.size
  }

  /**
   * The stream for a viewer who has shown a capability; begins it if it does not run.
   * @throws ApiError as RecordingRequests.check does; recordingUnavailable where too many run
   */
  watch(stream: RecordedStream, _proof: Capability<'live-link' | 'live' | 'push'>): LiveStream {
    if (!this.#running.has(keyOf(stream))) {
      this.#options.requests.check(stream.roomId)
      if (this.#running.size >= maxStreams)
        throw new ApiError('recordingUnavailable', { refusal: refusal('tooManyLives') })
    }
    return this.#get(stream).stream
  }

  /** Keeps a stream for an order, watched or not; the limit of orders is theirs. */
  hold(stream: RecordedStream, order: string): LiveStream {
    const running = this.#get(stream)
    running.orders.add(order)
    return running.stream
  }

  /** An order has ended; its viewers have the usual time to leave. */
  release(stream: RecordedStream, order: string): void {
    this.#running.get(keyOf(stream))?.orders.delete(order)
  }

  #get(stream: RecordedStream): Running {
    const { clock, requests } = this.#options
    const key = keyOf(stream)
    const known = this.#running.get(key)
    if (known !== undefined) {
      known.usedAt = clock()
      return known
    }
    const { roomId, userId } = stream
    requests.put({ id: requestId(key), roomId, userId, windowMs })
    const running: Running = {
      stream: new LiveStream(stream, this.#options),
      usedAt: clock(),
      orders: new Set(),
    }
    this.#running.set(key, running)
    return running
  }

  #check(): void {
    const now = this.#options.clock()
    for (const [key, { usedAt, orders }] of this.#running) {
      if (orders.size === 0 && now - usedAt > idleMs) this.#end(key)
    }
  }

  #end(key: string): void {
    this.#running.delete(key)
    this.#options.requests.remove(requestId(key))
  }
}

function keyOf({ roomId, userId, source }: RecordedStream): string {
  return JSON.stringify([roomId, userId, source])
}

function requestId(key: string): string {
  return `live:${key}`
}
