import type { CameraSource } from '../../../shared/device-address.ts'
import type { StreamSource } from '../../../shared/media/stream-source.ts'
import type { RecordedQuality, RecordingOrder, SegmentEnd } from '../../../shared/recordings/segment.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import type { MediaLog } from '../base/media-log.ts'
import type { CameraLease, CameraPulls } from '../feeds/camera-pulls.ts'
import type { Feed } from '../feeds/feed.ts'
import type { Room } from '../rooms/room.ts'
import { RecordingDisk } from './recording-disk.ts'
import type { RecorderReports, RecordingDependencies } from './stream-files.ts'
import { StreamRecorder } from './stream-recorder.ts'
import { YieldingScheduler } from './yielding-scheduler.ts'

/** Interval of checks for silence, gaps and clock changes, in milliseconds. */
const tickMs = 250

/** Time until a failed or lost substream is pulled again, in milliseconds. */
const againMs = 5_000
/** Timeout of a pull, in milliseconds. */
const answerMs = 10_000

interface Wanted {
  userId: string
  source: StreamSource
  quality: RecordedQuality
  /** Feed of the stream; undefined: unavailable. */
  feed: Feed | undefined
}

interface RoomRecording {
  order: RecordingOrder
  streams: Map<string, StreamRecorder>
  substreams: Map<string, HeldSubstream>
  /** Keys of the missing streams that were reported. */
  away: Set<string>
}

export interface RecorderOptions {
  /** Recordings folder; empty: nothing can be recorded. */
  folder: string
  find: (roomId: string) => Room | undefined
  pulls: CameraPulls
  controller: RecorderReports
  log: MediaLog
  now?: () => number
  wall?: () => number
}

/** Records streams of rooms as ordered by the controller. */
export class Recorder {
  readonly #options: RecorderOptions
  readonly #dependencies: RecordingDependencies | undefined
  readonly #rooms = new Map<string, RoomRecording>()
  readonly #ending = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: RecorderOptions) {
    this.#options = options
    const { folder, controller, log, now = () => performance.now(), wall = Date.now } = options
    if (folder === '') return
    const disk = new RecordingDisk(folder, {
      failed: (message, error) => log.error(message, String(error)),
      late: (ms) => controller.notify('recorder', { event: { type: 'writeDelay', ms } }),
    })
    this.#dependencies = { disk, scheduler: new YieldingScheduler(), controller, log, now, wall }
  }

  /** Replaces the recording order of a room. @throws Error if this node has no recordings folder */
  order(order: RecordingOrder): void {
    const isNothing = !order.everything && order.cameras.length === 0 && order.people.length === 0
    if (!isNothing && this.#dependencies === undefined) throw new Error('this node has no folder of recordings')
    const before = this.#rooms.get(order.roomId)
    if (before !== undefined) before.order = order
    else if (isNothing) return
    else this.#rooms.set(order.roomId, { order, streams: new Map(), substreams: new Map(), away: new Set() })
    this.follow(order.roomId)
    if (isNothing) this.#rooms.delete(order.roomId)
    this.#keepTime()
  }

  /** Applies the order after a room was opened or closed, or its streams changed. */
  follow(roomId: string): void {
    const recording = this.#rooms.get(roomId)
    const room = this.#options.find(roomId)
    if (room !== undefined) room.recording = recording !== undefined && includesPeople(recording.order)
    if (recording === undefined || this.#dependencies === undefined) return
    const wanted = new Map(this.#wantedOf(recording, room).map((each) => [keyOf(each), each]))
    for (const [key, stream] of recording.streams) {
      const now = wanted.get(key)
      if (now?.feed === stream.feed) continue
      recording.streams.delete(key)
      this.#end(stream, now === undefined ? this.#endOf(recording, key, room) : 'left')
    }
    for (const [key, held] of recording.substreams) {
      if (wanted.has(key) && room !== undefined) continue
      recording.substreams.delete(key)
      held.release()
    }
    for (const key of recording.away) if (!wanted.has(key)) recording.away.delete(key)
    for (const [key, each] of wanted) {
      if (each.feed === undefined) this.#noteAway(recording, key, each)
      else if (!recording.streams.has(key)) this.#begin(recording, key, each, each.feed, this.#dependencies)
    }
  }

  /**
   * Ends the recording of a room that was closed on this node. The controller sends a new order to the node that opens
   * the room.
   */
  forget(roomId: string): void {
    const recording = this.#rooms.get(roomId)
    if (recording === undefined) return
    this.#rooms.delete(roomId)
    for (const held of recording.substreams.values()) held.release()
    for (const stream of recording.streams.values()) this.#end(stream, 'left')
    this.#keepTime()
  }

  /** Ends every recording. Resolves when the files are complete. */
  async close(): Promise<void> {
    for (const { streams, substreams } of this.#rooms.values()) {
      for (const held of substreams.values()) held.release()
      for (const stream of streams.values()) this.#end(stream, 'stopped')
    }
    this.#rooms.clear()
    this.#keepTime()
    await Promise.all(this.#ending)
    await this.#dependencies?.disk.close()
  }

  #begin(recording: RoomRecording, key: string, wanted: Wanted, feed: Feed, dependencies: RecordingDependencies): void {
    const { roomId } = recording.order
    const { userId, source, quality } = wanted
    recording.away.delete(key)
    const member = this.#options.find(roomId)?.members.get(userId)
    const device = member?.device !== undefined
    let names = { userName: member?.user.userName ?? '', topic: '' }
    const facts = () => {
      const room = this.#options.find(roomId)
      names = {
        userName: room?.members.get(userId)?.user.userName ?? names.userName,
        topic: room?.config.topic ?? names.topic,
      }
      return { roomId, userId, source, quality, device, ...names }
    }
    recording.streams.set(key, new StreamRecorder(feed, facts, dependencies))
  }

  #end(stream: StreamRecorder, reason: SegmentEnd): void {
    const work = stream.end(reason).finally(() => this.#ending.delete(work))
    this.#ending.add(work)
  }

  /** Returns `left` if the stream left the room, `stopped` if the stream should no longer be recorded. */
  #endOf({ order }: RoomRecording, key: string, room: Room | undefined): SegmentEnd {
    if (room === undefined) return 'left'
    const isThere = [...room.streams.values()].some(({ view }) => key.startsWith(`${JSON.stringify(view.user_id)} `))
    return isThere || !includesPeople(order) ? 'stopped' : 'left'
  }

  #noteAway(recording: RoomRecording, key: string, { userId, source, quality }: Wanted): void {
    if (recording.away.has(key) || recording.substreams.get(key)?.isComing === true) return
    recording.away.add(key)
    const { roomId } = recording.order
    const from = this.#dependencies?.wall() ?? 0
    const gap = { roomId, userId, source, quality, from, to: null, reason: 'away' } as const
    this.#options.controller.notify('recorder', { event: { type: 'recordingGap', gap } })
  }

  #wantedOf(recording: RoomRecording, room: Room | undefined): Wanted[] {
    const { everything, cameras, people } = recording.order
    const qualities = new Map(cameras.map(({ userId, quality }) => [userId, quality]))
    const missing = new Set([...qualities.keys(), ...people])
    const wanted: Wanted[] = []
    for (const { view, feed } of room?.streams.values() ?? []) {
      const { user_id: userId, source } = view
      const device = room?.members.get(userId)?.device
      const quality = device === undefined ? undefined : qualities.get(userId)
      if (!everything && quality === undefined && (device !== undefined || !people.includes(userId))) continue
      missing.delete(userId)
      if (quality === 'substream' && device?.second !== undefined) {
        const key = keyOf({ userId, source, quality })
        let held = recording.substreams.get(key)
        if (held === undefined) {
          held = new HeldSubstream(this.#options.pulls, device.second, () => this.follow(recording.order.roomId))
          recording.substreams.set(key, held)
        }
        wanted.push({ userId, source, quality, feed: held.feed })
      } else wanted.push({ userId, source, quality: 'main', feed })
    }
    for (const userId of missing) {
      wanted.push({ userId, source: 'main', quality: qualities.get(userId) ?? 'main', feed: undefined })
    }
    return wanted
  }

  #keepTime(): void {
    if (this.#rooms.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    } else this.#timer ??= setInterval(() => this.#tick(), tickMs).unref()
  }

  #tick(): void {
    for (const { streams } of this.#rooms.values()) for (const stream of streams.values()) stream.tick()
  }
}

/** Whether the order includes people, who are then notified of the recording. */
function includesPeople({ everything, people }: RecordingOrder): boolean {
  return everything || people.length > 0
}

function keyOf({ userId, source, quality }: Pick<Wanted, 'userId' | 'source' | 'quality'>): string {
  return `${JSON.stringify(userId)} ${source} ${quality}`
}

/** A camera's substream that is pulled permanently, with or without viewers. */
class HeldSubstream {
  readonly #pulls: CameraPulls
  readonly #camera: CameraSource
  readonly #changed: () => void
  readonly #abort = new AbortController()
  #lease: CameraLease | undefined
  #timer: NodeJS.Timeout | undefined
  #isComing = true

  /** @param changed called when the substream becomes available or is lost */
  constructor(pulls: CameraPulls, camera: CameraSource, changed: () => void) {
    this.#pulls = pulls
    this.#camera = camera
    this.#changed = changed
    mustNotFail(this.#acquire())
  }

  /** Feed of the substream; undefined: unavailable. */
  get feed(): Feed | undefined {
    return this.#lease?.feed
  }

  /** Whether the first pull is pending. */
  get isComing(): boolean {
    return this.#isComing
  }

  release(): void {
    this.#abort.abort()
    clearTimeout(this.#timer)
    this.#lease?.release()
    this.#lease = undefined
  }

  async #acquire(): Promise<void> {
    const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(answerMs)])
    try {
      const lease = await this.#pulls.acquire(this.#camera, signal, () => this.#lost())
      if (this.#abort.signal.aborted) return lease.release()
      this.#lease = lease
    } catch {
      // Retried as long as the substream is recorded.
      this.#again()
    }
    this.#isComing = false
    if (!this.#abort.signal.aborted) this.#changed()
  }

  #lost(): void {
    this.#lease = undefined
    this.#again()
    this.#changed()
  }

  #again(): void {
    if (this.#abort.signal.aborted) return
    this.#timer = setTimeout(() => mustNotFail(this.#acquire()), againMs).unref()
  }
}
