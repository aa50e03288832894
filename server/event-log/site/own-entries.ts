import type { EventEntry } from '../../../shared/domain/events.ts'
import type { EventLog } from '../event-log.ts'
import type { Source } from './event-rows.ts'

/** Number of entries copied together. */
const batchLength = 500

/** Entries of a controller's own log that are not in the site's log yet, in order. */
export class OwnEntries {
  readonly #log: Pick<EventLog, 'after'>
  #source: Source | undefined
  #after = 0

  constructor(log: Pick<EventLog, 'after'>) {
    this.#log = log
  }

  /** The last copied entry; undefined: unknown. */
  get source(): Source | undefined {
    return this.#source
  }

  /** Number of the last entry that was copied or skipped. */
  get copiedTo(): number {
    return this.#after
  }

  /**
   * Continues after `source`. If this log no longer contains that entry, continues with the first newer entry.
   * @throws errors of the file system
   */
  async goOnAfter(source: Source | undefined): Promise<void> {
    this.#source = source
    this.#after = 0
    if (source === undefined) return
    const [there] = await this.#log.after(source.seq - 1, 1)
    if (there?.seq === source.seq && there.hash === source.hash) {
      this.#after = source.seq
      return
    }
    for (;;) {
      const entries = await this.#log.after(this.#after, batchLength)
      const younger = entries.findIndex(({ at }) => at > source.at)
      const passed = younger === -1 ? entries.at(-1) : entries[younger - 1]
      this.#after = passed?.seq ?? this.#after
      if (younger !== -1 || entries.length === 0) return
    }
  }

  /** Returns the next entries, oldest first. @throws errors of the file system */
  next(): Promise<readonly EventEntry[]> {
    return this.#log.after(this.#after, batchLength)
  }

  /** Records that entries are in the site's log. */
  copied(entries: readonly EventEntry[]): void {
    const last = entries.at(-1)
    if (last === undefined) return
    this.#after = last.seq
    this.#source = { seq: last.seq, hash: last.hash, at: last.at }
  }
}
