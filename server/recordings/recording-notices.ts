import type { Segment } from '../../shared/recordings/segment.ts'
import type { Settings } from '../../shared/settings.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import { allRecordings, type RecordEvent } from './recording-events.ts'
import type { RecordingsFolder } from './recordings-folder.ts'
import type { Space } from './storage-watch.ts'

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
