import type { StoredRecordingRemoval } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { RecordFiles } from './record-files.ts'

/** Dependencies of the removals. */
export interface RecordRemovalsParts {
  store: Pick<Store, 'get' | 'all' | 'transact' | 'onChange' | 'leadership'>
  files: Pick<RecordFiles, 'list' | 'remove'>
  logger: { warn(fields: object, message: string): void }
  /** Milliseconds since the epoch. */
  clock: () => number
}

/** Time for which a removal stays stored, in milliseconds: each controller with a folder of its own deletes its files when it leads the next time. */
const keptMs = 30 * 24 * 60 * 60 * 1_000

/**
 * Deletes the files of deleted recordings, complete ones and those left over from their making, in the folder of the controller that leads. A stored removal decides, not the absence of
 * the recording: after the restore of a backup, files of recordings that it does not hold stay.
 */
export class RecordRemovals {
  readonly #parts: RecordRemovalsParts
  readonly #stops: (() => void)[] = []
  #sweeping: Promise<void> | undefined
  #isDue = false

  constructor(parts: RecordRemovalsParts) {
    this.#parts = parts
  }

  start(): void {
    const { store } = this.#parts
    this.#stops.push(
      store.onChange(
        (changes) => {
          if (changes.some(({ collection, value }) => collection === 'recording_removals' && value !== undefined))
            this.sweep()
        },
        ['recording_removals'],
      ),
      store.leadership.onChange(() => this.sweep()),
    )
    this.sweep()
  }

  async close(): Promise<void> {
    for (const stop of this.#stops.splice(0)) stop()
    this.#isDue = false
    await this.#sweeping
  }

  /** Deletes what removals name now; during a sweep, once more after it. */
  sweep(): void {
    this.#isDue = true
    this.#sweeping ??= this.#run().finally(() => {
      this.#sweeping = undefined
    })
  }

  async #run(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false
      try {
        await this.#sweepOnce()
      } catch (err) {
        this.#parts.logger.warn({ err }, 'files of deleted recordings could not be deleted')
      }
    }
  }

  async #sweepOnce(): Promise<void> {
    const { store, files, clock } = this.#parts
    const removals = store.all('recording_removals')
    if (!store.leadership.isHeld || removals.size === 0) return
    await store.leadership.confirmed()
    const names = await files.list()
    await files.remove(names.filter((file) => removals.has(recordingOf(file))).map((file) => ({ file })))
    const until = clock() - keptMs
    const over = [...removals].filter(([, { at = 0 }]: [string, StoredRecordingRemoval]) => at < until)
    if (over.length === 0) return
    await store.transact(['recordings'], (transaction) => {
      for (const [id] of over) transaction.delete('recording_removals', id)
    })
  }
}

/** Id of the recording whose file has this name. */
function recordingOf(file: string): string {
  return file.slice(0, file.indexOf('-'))
}
