import type { StoredRecordingRemoval } from '../../store/recording-records.ts'
import type { Store } from '../../store/store.ts'
import type { RecordFiles } from './record-files.ts'

export interface RecordRemovalsDependencies {
  store: Pick<Store, 'get' | 'all' | 'transact' | 'onChange' | 'leadership'>
  files: Pick<RecordFiles, 'list' | 'remove'>
  logger: { warn(fields: object, message: string): void }
  /** Returns the current time, in milliseconds since the epoch. */
  clock: () => number
}

/**
 * Time for which a removal record is kept, in milliseconds. A controller with its own recordings folder deletes its
 * files the next time it is the leader.
 */
const keptMs = 30 * 24 * 60 * 60 * 1_000

/**
 * Deletes the files and drafts of deleted recordings from the folder of the leading controller. Only removal records
 * trigger a deletion. Files of a recording that is missing from a restored backup stay.
 */
export class RecordRemovals {
  readonly #dependencies: RecordRemovalsDependencies
  readonly #stops: (() => void)[] = []
  #sweeping: Promise<void> | undefined
  #isDue = false

  constructor(dependencies: RecordRemovalsDependencies) {
    this.#dependencies = dependencies
  }

  start(): void {
    const { store } = this.#dependencies
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

  /** Deletes the files of all removal records. A call during a sweep starts a further sweep afterwards. */
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
        this.#dependencies.logger.warn({ err }, 'files of deleted recordings could not be deleted')
      }
    }
  }

  async #sweepOnce(): Promise<void> {
    const { store, files, clock } = this.#dependencies
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

/** Returns the id of the recording to which a file name belongs. */
function recordingOf(file: string): string {
  return file.slice(0, file.indexOf('-'))
}
