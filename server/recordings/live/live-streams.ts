import { ApiError } from '../../../shared/result-codes.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import type { RecordedStream } from '../../../shared/recordings/segment.ts'
import type { Capability } from '../../capabilities/capability.ts'
import type { RecordingRequests } from '../recording-requests.ts'
import { LiveStream, type LiveStreamDependencies } from './live-stream.ts'

export interface LiveStreamsOptions extends LiveStreamDependencies {
  requests: RecordingRequests
}

/** Time after the last request at which a stream ends, in milliseconds. */
const idleMs = 20_000
const checkMs = 5_000
/** Age at which segments recorded only for viewers are deleted, in milliseconds. */
export const windowMs = 90_000
/**
 * Maximum number of running streams: viewers cannot start more streams. Each stream holds a table of fragments, and its
 * camera is recorded.
 */
const maxStreams = 200

interface Running {
  stream: LiveStream
  usedAt: number
  /** Ids of the orders that keep the stream running. */
  orders: Set<string>
}

/** Live streams that are watched or ordered. Each stream is recorded while it runs. */
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

  get size(): number {
    return this.#running.size
  }

  /**
   * Returns the stream for a viewer with a capability, and starts it if it does not run.
   * @throws the errors of RecordingRequests.check; ApiError recordingUnavailable if too many streams run
   */
  watch(stream: RecordedStream, _proof: Capability<'live-link' | 'live' | 'push'>): LiveStream {
    if (!this.#running.has(keyOf(stream))) {
      this.#options.requests.check(stream.roomId)
      if (this.#running.size >= maxStreams)
        throw new ApiError('recordingUnavailable', { refusal: refusal('tooManyLives') })
    }
    return this.#get(stream).stream
  }

  /** Keeps a stream running for an order, even without viewers. Orders have their own limit. */
  hold(stream: RecordedStream, order: string): LiveStream {
    const running = this.#get(stream)
    running.orders.add(order)
    return running.stream
  }

  /** Releases a stream of an ended order. The stream still runs until its viewers have left. */
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
