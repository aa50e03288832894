import type { RecordedStream, SegmentStart } from '../../../shared/recordings/segment.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import { pause } from '../../../shared/sleep.ts'
import type { Capability } from '../../capabilities/capability.ts'
import type { FragmentTables } from '../playback/fragment-table.ts'
import { locate } from '../playback/segment-sources.ts'
import type { SegmentQuery } from '../recording-index.ts'
import type { RecordingRequests } from '../recording-control.ts'
import { fragmentEnd, type LiveFragment, LiveWindow } from './live-window.ts'

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

/** Maximum age of existing recordings that a new stream shows first, in milliseconds. */
const backMs = 12_000
/** Interval between two checks of a growing file, in milliseconds. */
const lookMs = 200

/** Complete and open segments from which a live stream is read. */
export interface LiveSegments {
  segments(query: SegmentQuery): readonly SegmentStart[]
  open(query: SegmentQuery): readonly SegmentStart[]
}

export interface LiveStreamDependencies {
  index: LiveSegments
  tables: Pick<FragmentTables, 'of'>
  clock: () => number
}

/** The last seconds of one recorded stream, read from its files as they grow. */
export class LiveStream {
  readonly stream: RecordedStream
  readonly window = new LiveWindow()
  readonly #dependencies: LiveStreamDependencies
  #refreshing: Promise<void> | undefined
  /** Segment that was read last. Players need its codecs and size. */
  #segment: SegmentStart | undefined
  /** Segments before this time are not shown, in milliseconds since the epoch. */
  readonly #since: number

  constructor(stream: RecordedStream, dependencies: LiveStreamDependencies) {
    this.stream = stream
    this.#dependencies = dependencies
    this.#since = dependencies.clock() - backMs
  }

  /** Newest segment; undefined if none was read yet. */
  get segment(): SegmentStart | undefined {
    return this.#segment
  }

  /**
   * Reads everything written since the last call; concurrent calls share one read.
   * @throws errors of the file system
   */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /** Resolves when a fragment newer than `after` exists, or after `maxMs`. */
  async wait(after: number, maxMs: number, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + maxMs
    while (!signal.aborted) {
      await this.refresh()
      if (endOf(this.window) > after || performance.now() >= deadline) return
      await pause(lookMs, { signal })
    }
  }

  /** Returns the segment with this start, for reading its bytes; undefined: no such segment. */
  segmentAt(startedAt: number): SegmentStart | undefined {
    return this.#found(startedAt - 1, startedAt + 1).find((segment) => Math.round(segment.startedAt) === startedAt)
  }

  async #refresh(): Promise<void> {
    const { tables, clock } = this.#dependencies
    const last = this.window.last
    const from = last?.segment ?? this.#since
    for (const segment of this.#found(from, Number.MAX_SAFE_INTEGER)) {
      const name = Math.round(segment.startedAt)
      const begun = this.window.last
      if (begun !== undefined && name < begun.segment) continue
      // A deleted or unreadable segment is skipped.
      const table = await tables.of(segment).catch(() => undefined)
      if (table === undefined) continue
      this.#segment = segment
      for (const { offset, bytes, start, duration } of table.fragments) {
        const { last: newest } = this.window
        if (newest?.segment === name && offset <= newest.offset) continue
        if (newest === undefined && segment.startedAt + (start + duration) * 1_000 < this.#since) continue
        const first = newest?.segment !== name
        this.window.add({ segment: name, init: table.init, offset, bytes, start, duration, first }, clock())
      }
    }
  }

  /** Returns the complete and open segments of the stream, sorted by start. */
  #found(from: number, to: number): SegmentStart[] {
    const { index } = this.#dependencies
    const query = { ...this.stream, from, to }
    return [...index.segments(query), ...index.open(query)].sort((one, other) => one.startedAt - other.startedAt)
  }
}

/** Returns the time of the end of the newest fragment, in milliseconds since the epoch; 0: no fragment. */
function endOf({ last }: LiveWindow): number {
  return last === undefined ? 0 : fragmentEnd(last)
}

/** Fragment of a live stream with its bytes. */
interface ReadFragment {
  fragment: LiveFragment
  /** Init followed by the fragment. */
  bytes: Buffer
}

/** Maximum wait for the next fragment, in milliseconds: key frames may be far apart. */
export const fragmentMs = 5_000

/**
 * Reads a live stream as it grows, until the signal aborts.
 * @param after last fragment already read; undefined: starts with the newest fragment, so that readers receive live
 * pictures
 * @throws errors of the file system
 */
export async function* liveFragments(
  stream: LiveStream,
  folder: string,
  signal: AbortSignal,
  after?: LiveFragment,
): AsyncGenerator<ReadFragment> {
  let read = after
  while (!signal.aborted) {
    await stream.wait(read === undefined ? 0 : fragmentEnd(read), fragmentMs, signal)
    for (const fragment of newer(stream.window.fragments, read)) {
      if (signal.aborted) return
      read = fragment
      yield { fragment, bytes: await bytesOf(stream, folder, fragment) }
    }
  }
}

function newer(fragments: readonly LiveFragment[], read: LiveFragment | undefined): readonly LiveFragment[] {
  if (read === undefined) return fragments.slice(-1)
  return fragments.filter(
    ({ segment, offset }) => segment > read.segment || (segment === read.segment && offset > read.offset),
  )
}

async function bytesOf(
  stream: LiveStream,
  folder: string,
  { segment, init, offset, bytes }: LiveFragment,
): Promise<Buffer> {
  const found = stream.segmentAt(segment)
  if (found === undefined) throw new Error('a segment is gone')
  const { open } = await locate(folder, found.file)
  const handle = await open()
  try {
    const buffer = Buffer.alloc(init.bytes + bytes)
    await handle.read(buffer, 0, init.bytes, init.offset)
    await handle.read(buffer, init.bytes, bytes, offset)
    return buffer
  } finally {
    await handle.close()
  }
}
