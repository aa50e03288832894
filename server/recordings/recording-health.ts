import type { RecordingProblem, RecordingStatus, RecordingTarget } from '../../shared/domain/recordings.ts'
import { objectProblemMessages } from '../../shared/recordings/object-storage.ts'
import type { GapReason } from '../../shared/recordings/segment.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { ObjectStorageSettings } from '../../shared/settings/recording.ts'
import type { RecordingRate } from './disk-space.ts'
import type { ObjectStorage } from './objects/object-storage.ts'
import { allRecordings, type RecordEvent } from './recording-events.ts'
import type { RecordingOrders } from './recording-orders.ts'
import type { RecordingStorage } from './recording-storage.ts'
import type { RecordingTargets } from './recording-targets.ts'
import type { RecordingsFolder } from './recordings-folder.ts'

/** Time for which a write failure is shown after its last occurrence, in milliseconds. */
const failureMs = 10 * 60_000
const dayMs = 24 * 60 * 60_000
/** Time for which missing files are shown after the last discovery, in milliseconds. */
const missingMs = dayMs
/** Maximum number of targets in the status. */
const maxShown = 1_000
export const storageLowMessage =
  'The disk of the recordings is nearly full: recording has stopped. Make room, shorten the retention, or delete kept recordings.'

interface HealthDependencies {
  folder: RecordingsFolder
  /** Storage of the recordings; undefined: the folder is unusable. */
  storage: RecordingStorage | undefined
  orders: Pick<RecordingOrders, 'node'>
  targets: RecordingTargets
  /** Object storage; undefined: the folder is unusable. */
  objects: Pick<ObjectStorage, 'status'> | undefined
  objectSettings: () => ObjectStorageSettings
  rate: RecordingRate
  delays: Pick<DiskDelays, 'ms' | 'reported'>
  /** Number of segments being written. */
  writing: () => number
  /** Progress of a rebuild of the index; undefined: no rebuild is running. */
  rebuilding: () => { done: number; total: number } | undefined
}

/** State of the recordings for operators: space, recorded targets, and problems. */
export class RecordingHealth {
  readonly #dependencies: HealthDependencies
  #failure: { at: number; since: number; subject: string; reason: GapReason } | undefined
  #lowSince = 0
  #missing = { at: 0, since: 0, segments: 0 }

  constructor(dependencies: HealthDependencies) {
    this.#dependencies = dependencies
  }

  /** Records that the disk is nearly full, or has space again. */
  noteLow(low: boolean): void {
    this.#lowSince = low ? Date.now() : 0
  }

  /** Records segments whose files are missing or damaged. */
  noteMissing(segments: number): void {
    const now = Date.now()
    const { at, since, segments: before } = this.#missing
    const goesOn = now - at < missingMs
    this.#missing = { at: now, since: goesOn ? since : now, segments: goesOn ? before + segments : segments }
  }

  /** Records the reason why a stream cannot be written; undefined: the stream is being written again. */
  noteFailure(subject: string, reason: GapReason | undefined): void {
    if (reason === undefined) {
      if (this.#failure?.subject === subject) this.#failure = undefined
      return
    }
    const now = Date.now()
    this.#failure = { at: now, since: this.#failure?.since ?? now, subject, reason }
  }

  /** Returns the status. @param mayShow whether the caller may see a target */
  status(mayShow: (target: RecordingTarget) => boolean): RecordingStatus {
    const { folder, storage, rate, delays, writing, rebuilding } = this.#dependencies
    const totals = storage?.index.totals() ?? { bytes: 0, segments: 0, keptBytes: 0, firstAt: 0, lastAt: 0 }
    const { free, capacity, reserve } = storage?.watch.space ?? { free: 0, capacity: 0, reserve: 0 }
    const perSecond = rate.perSecond(Date.now())
    const targets = this.#dependencies.targets.list()
    return {
      folder: folder.path,
      usable: storage !== undefined,
      bytes: totals.bytes,
      segments: totals.segments,
      oldest_at: totals.firstAt,
      newest_at: totals.lastAt,
      kept_bytes: totals.keptBytes,
      free,
      capacity,
      reserve,
      rate: perSecond,
      days_until_full: perSecond === 0 ? null : Math.max(0, free - reserve) / perSecond / (dayMs / 1_000),
      disk_late_ms: delays.ms,
      streams: writing(),
      deleting: storage?.removal.waiting ?? 0,
      rebuilding: rebuilding() ?? null,
      objects: this.#objects(),
      targets: targets.filter(mayShow).slice(0, maxShown),
      problems: this.problems(targets),
    }
  }

  /** Returns the state of the object storage; null if it is off and contains no segments. */
  #objects(): RecordingStatus['objects'] {
    const { storage, objects, objectSettings } = this.#dependencies
    if (storage === undefined || objects === undefined) return null
    const { local, both, remote } = storage.index.places.sums()
    const deleting = storage.index.places.waitingRemovals
    const { enabled } = objectSettings()
    if (!enabled && both.segments + remote.segments + deleting === 0) return null
    const status = objects.status()
    return {
      ...{ enabled, deleting, problem: status.problem, detail: status.detail, since: status.since },
      uploading: status.uploading,
      waiting: enabled ? local.segments : 0,
      waiting_bytes: enabled ? local.bytes : 0,
      oldest_at: enabled ? storage.index.places.oldestWaiting : 0,
      stored: both.segments + remote.segments,
      stored_bytes: both.bytes + remote.bytes,
      remote_only: remote.segments,
    }
  }

  /** Lists problems that require the operator's attention. @param targets recording targets that should be recorded */
  problems(targets: readonly RecordingTarget[] = this.#dependencies.targets.list()): RecordingStatus['problems'] {
    const { folder, storage, orders, delays, rebuilding } = this.#dependencies
    const problem = (code: RecordingProblem, message: string, since = 0, subject = '') => ({
      code,
      subject,
      message,
      since,
    })
    const found = []
    if (folder.problem !== undefined) found.push(problem(folder.problem.code, folder.problem.message, 0, folder.path))
    const progress = rebuilding()
    if (progress !== undefined) {
      const { done, total } = progress
      found.push(
        problem('indexRebuilding', `The index of the recordings is being rebuilt: ${done} of ${total} files are read.`),
      )
    }
    if (storage?.watch.isLow === true) found.push(problem('storageLow', storageLowMessage, this.#lowSince))
    if (this.#failure !== undefined && Date.now() - this.#failure.at < failureMs) {
      const { since, subject, reason } = this.#failure
      const why = reason === 'diskFull' ? 'the disk is full' : 'the disk refuses'
      const message = `A recording could not be written: ${why}. Check the disk of ${folder.path}.`
      found.push(problem('writeFailed', message, since, subject))
    }
    const { at, since: missingSince, segments } = this.#missing
    if (Date.now() - at < missingMs) {
      const message = `Files of recordings are missing or damaged in ${folder.path}: ${segments} segments left the index or became shorter. The events say which.`
      found.push(problem('filesMissing', message, missingSince, String(segments)))
    }
    if (delays.reported !== undefined) {
      const { maxMs, since } = delays.reported
      const late = String(seconds(maxMs))
      const message = `The disk of ${folder.path} is too slow: a power cut would lose up to ${late} s more than usual.`
      found.push(problem('diskLate', message, since, late))
    }
    const stored = this.#objects()
    if (stored !== null && stored.problem !== null) {
      const { problem: code, detail, since, waiting, oldest_at } = stored
      const backlog =
        waiting === 0 ? '' : ` ${waiting} recordings wait, the oldest since ${new Date(oldest_at).toISOString()}.`
      const named = detail === '' ? '' : ` (${detail})`
      found.push(problem('objectsFailed', `${objectProblemMessages[code]}${named}${backlog}`, since, code))
    }
    const without = targets.find(({ hindrance }) => hindrance === 'node')
    if (without !== undefined) {
      const { name } = orders.node(without.room_id)
      const { message } = refusal('recordingImpossible', { node: name })
      found.push(problem('nodeCannotRecord', message, without.since, without.topic || without.room_id))
    }
    return found
  }
}

/**
 * Minimum delay of which operators are notified, in milliseconds. While the disk keeps up, a power cut loses at most
 * one group of pictures plus one second.
 */
const reportedFromMs = 1_000

interface Delay {
  ms: number
  maxMs: number
  /** Time of the notification, in milliseconds since the epoch; 0: not notified. */
  reportedAt: number
}

/** Delays of the nodes' disks: the age of the oldest media that a power cut would destroy. */
export class DiskDelays {
  readonly #event: RecordEvent
  readonly #nodes = new Map<string, Delay>()

  constructor(event: RecordEvent) {
    this.#event = event
  }

  /** @param ms delay in milliseconds; 0 if the disk keeps up */
  note(node: string, ms: number): void {
    const known = this.#nodes.get(node)
    if (ms === 0) {
      this.#nodes.delete(node)
      if (known !== undefined && known.reportedAt > 0) this.#tell('recording.diskBack', node, known.maxMs)
      return
    }
    const delay = { ms, maxMs: Math.max(ms, known?.maxMs ?? 0), reportedAt: known?.reportedAt ?? 0 }
    this.#nodes.set(node, delay)
    if (delay.reportedAt > 0 || delay.maxMs < reportedFromMs) return
    delay.reportedAt = Date.now()
    this.#tell('recording.diskLate', node, ms)
  }

  /** Largest current delay, in milliseconds; 0 if all disks keep up. */
  get ms(): number {
    return Math.max(0, ...Array.from(this.#nodes.values(), ({ ms }) => ms))
  }

  /**
   * Largest delay of the disks currently reported as slow, and the time of the first report; undefined: no such disk.
   */
  get reported(): { maxMs: number; since: number } | undefined {
    const reported = [...this.#nodes.values()].filter(({ reportedAt }) => reportedAt > 0)
    if (reported.length === 0) return undefined
    return {
      maxMs: Math.max(...reported.map(({ maxMs }) => maxMs)),
      since: Math.min(...reported.map(({ reportedAt }) => reportedAt)),
    }
  }

  #tell(kind: 'recording.diskLate' | 'recording.diskBack', node: string, ms: number): void {
    this.#event({
      kind,
      level: kind === 'recording.diskLate' ? 'warning' : 'info',
      subject: allRecordings,
      params: { node, seconds: seconds(ms) },
    })
  }
}

/** Converts milliseconds to seconds for display, rounded up to a tenth. */
function seconds(ms: number): number {
  return Math.ceil(ms / 100) / 10
}
