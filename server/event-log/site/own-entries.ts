import type { EventEntry } from '../../../shared/domain/events.ts'
import type { EventLog } from '../event-log.ts'
import type { Source } from './event-rows.ts'

/** Entries that are copied together. */
const batchLength = 500

/** Entries of a controller's own log that the log of the site does not hold yet, in order. */
export class OwnEntries {
  readonly #log: Pick<EventLog, 'after'>
  #source: Source | undefined
  #after = 0

  constructor(log: Pick<EventLog, 'after'>) {
    this.#log = log
  }

  /** The last one that the log of the site holds, as far as is known. */
  get source(): Source | undefined {
    return this.#source
  }

  /** Number of the last entry that was copied or passed over. */
  get copiedTo(): number {
    return this.#after
  }

  /** Goes on behind another entry: that of this log, or where this log does not have it any more, the first one that is younger. @throws what the file system says */
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

  /** The next ones, oldest first. @throws what the file system says */
  next(): Promise<readonly EventEntry[]> {
    return this.#log.after(this.#after, batchLength)
  }

  /** They are in the log of the site. */
  copied(entries: readonly EventEntry[]): void {
    const last = entries.at(-1)
    if (last === undefined) return
    this.#after = last.seq
    this.#source = { seq: last.seq, hash: last.hash, at: last.at }
  }
}
