import type { EventActor } from '../../shared/domain/event-actor.ts'
import type { EventParams } from '../../shared/domain/event-values.ts'
import type { EventKind, EventLevel, EventSubject } from '../../shared/domain/events.ts'
import type { Segment } from '../../shared/recordings/segment.ts'
import type { Settings } from '../../shared/settings.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { Store } from '../store/store.ts'
import type { ManualRecording, StartedBy } from './recording-control.ts'
import type { RecordingIndex } from './recording-index.ts'
import type { RecordingsFolder } from './recordings-folder.ts'
import type { Space } from './disk-space.ts'
import type { WantedTarget } from './wanted-streams.ts'

/** Event of recordings for the event log. */
export interface RecordingEvent {
  kind: Extract<EventKind, `recording.${string}`>
  level?: EventLevel
  actor?: EventActor
  subject: EventSubject
  room?: string
  params?: EventParams
}

/** Receives events of recording. */
export type RecordEvent = (event: RecordingEvent) => void

/** Returns the subject of an event about the recordings of one person or camera. @param name displayed name */
export function recordingSubject(roomId: string, userId: string, name: string): EventSubject {
  return { type: 'recording', id: `${roomId}/${userId}`, name }
}

/**
 * Returns the subject of an event about recordings in a span. Its name is the recorded name; without a recording, the
 * userId. Times are in milliseconds since the epoch.
 */
export function recordedSubject(
  index: Pick<RecordingIndex, 'segments'>,
  { roomId, userId, from, to }: { roomId: string; userId: string; from: number; to: number },
): EventSubject {
  const [segment] = index.segments({ roomId, userId, from, to, limit: 1 })
  const name = segment?.userName ?? ''
  return recordingSubject(roomId, userId, name === '' ? userId : name)
}

/** Subject of an event about all recordings of the site. */
export const allRecordings = { type: 'recording', id: '', name: '' } as const satisfies EventSubject

interface NoticesDependencies {
  folder: RecordingsFolder
  settings: () => Settings
  event: RecordEvent
  logger: NodeLogger
}

/** Writes events about the folder, the space and the object storage of the recordings. */
export class RecordingNotices {
  readonly #dependencies: NoticesDependencies

  constructor({ folder, settings, event, logger }: NoticesDependencies) {
    this.#dependencies = { folder, settings, event, logger }
  }

  /** Reports the problem of an unusable folder at the start. */
  folderOpened(): void {
    const { folder, event, logger } = this.#dependencies
    if (folder.problem === undefined) return
    const { code, message } = folder.problem
    logger.error({ folder: folder.path, problem: code }, message)
    const params = { folder: folder.path, code }
    event({ kind: 'recording.folderFailed', level: 'error', subject: allRecordings, params })
  }

  /** Reports that the disk is nearly full, or has space again. */
  spaceChanged(isLow: boolean, { free, reserve }: Space): void {
    const { folder, event, logger } = this.#dependencies
    const level = isLow ? 'error' : 'info'
    const params = { free, reserve, folder: folder.path }
    event({ kind: isLow ? 'recording.storageLow' : 'recording.storageBack', level, subject: allRecordings, params })
    logger[level](
      { ...params },
      isLow ? 'recording stops: the disk is nearly full' : 'recording goes on: the disk has room again',
    )
  }

  /** Reports that recordings were deleted before they were uploaded. */
  notUploaded(bytes: number): void {
    this.#dependencies.event({
      kind: 'recording.notUploaded',
      level: 'error',
      subject: allRecordings,
      params: { bytes },
    })
  }

  /** Reports a problem of the object storage. @param problem undefined: the problem has ended */
  objectsChanged(problem: string | undefined, detail: string): void {
    const { settings, event } = this.#dependencies
    const { endpoint, bucket } = settings().object_storage
    const kind = problem === undefined ? 'recording.objectsBack' : 'recording.objectsFailed'
    event({
      kind,
      level: problem === undefined ? 'info' : 'warning',
      subject: allRecordings,
      params: { endpoint, bucket, ...(problem === undefined ? {} : { code: problem, detail }) },
    })
  }

  /** Reports a file that was completed after its process ended. */
  repaired(segment: Segment): void {
    const subject = { type: 'recording', id: segment.file, name: segment.userName } as const
    this.#dependencies.event({
      kind: 'recording.repaired',
      subject,
      room: segment.roomId,
      params: { from: segment.startedAt, to: segment.endedAt },
    })
  }
}

/** Time after the start of a controller in which starting rules are not reported as events, in milliseconds. */
const quietMs = 30_000
const system: EventActor = { type: 'system', name: '', address: '' }

type TargetKind = Extract<RecordingEvent['kind'], 'recording.started' | 'recording.stopped'>

/**
 * Writes an event when a rule starts or stops recording a room. Cameras recorded by a rule cause no events: their time
 * line shows the recordings.
 */
export class TargetEvents {
  readonly #store: Pick<Store, 'get'>
  readonly #event: RecordEvent
  #quietUntil = 0

  constructor(store: Pick<Store, 'get'>, event: RecordEvent) {
    this.#store = store
    this.#event = event
  }

  start(): void {
    this.#quietUntil = Date.now() + quietMs
  }

  changed(roomId: string, before: readonly WantedTarget[], after: readonly WantedTarget[]): void {
    const [was, is] = [before, after].map((targets) => targets.some(({ userId, by }) => userId === '' && by === 'rule'))
    if (was === is || Date.now() < this.#quietUntil) return
    const kind = is === true ? 'recording.started' : 'recording.stopped'
    this.#event(targetEvent(this.#store, kind, { roomId }, { actor: system, by: 'rule' }))
  }
}

/** Returns the event of a recording started or stopped manually. */
export function manualEvent(
  store: Pick<Store, 'get'>,
  kind: TargetKind,
  manual: ManualRecording,
  { by, name, address = '' }: StartedBy,
): RecordingEvent {
  return targetEvent(store, kind, manual, { actor: { type: by, name, address }, by })
}

/** Returns the event of a recording that ended with its meeting. */
export function meetingEndedEvent(store: Pick<Store, 'get'>, manual: ManualRecording): RecordingEvent {
  return targetEvent(store, 'recording.stopped', manual, { actor: system, by: 'meetingEnded' })
}

function targetEvent(
  store: Pick<Store, 'get'>,
  kind: TargetKind,
  { roomId, userId = '' }: ManualRecording,
  { actor, by }: { actor: EventActor; by: string },
): RecordingEvent {
  const topic = store.get('rooms', roomId)?.topic ?? ''
  const device = store.get('devices', userId)
  const subject =
    userId === ''
      ? ({ type: 'room', id: roomId, name: topic } as const)
      : ({ type: device === undefined ? 'person' : 'device', id: userId, name: device?.userName ?? userId } as const)
  return { kind, actor, subject, room: userId === '' ? '' : roomId, params: { by, room: topic } }
}
