import { eventMatcher } from '../../../shared/console/event-matcher.ts'
import type { EventEntry, EventFilter } from '../../../shared/domain/events.ts'
import type { SharedEventLog } from '../../event-log/event-log.ts'
import { searchedTexts } from './site-search.ts'
import { TextIndex } from './text-index.ts'

/** Maximum number of newest events searched; older events are only found on the events page. */
const maxEvents = 1_000
/** Number of entries per query of the log. */
const pageLength = 500

/** Search in the newest events of the log, in memory. */
export class RecentEvents {
  readonly #log: Pick<SharedEventLog, 'query' | 'onAdded'>
  readonly #index = new TextIndex()
  /** Events by number, in the order in which they were added. */
  readonly #entries = new Map<string, EventEntry>()
  #read: Promise<void> | undefined

  constructor(log: Pick<SharedEventLog, 'query' | 'onAdded'>) {
    this.#log = log
  }

  /**
   * Finds events whose texts contain every word. The first call reads the newest entries of the log.
   * @param words filter that also finds words in the displayed texts of events; undefined: searches only their values
   */
  async find(
    { text, words }: { text: string; words: EventFilter['words'] },
    limit: number,
  ): Promise<{ items: EventEntry[]; more: boolean }> {
    this.#read ??= this.#readNewest().catch((error: unknown) => {
      this.#read = undefined
      throw error
    })
    await this.#read
    if (words !== undefined) return this.#findRead(words, limit)
    const { keys, more } = this.#index.find(text, limit)
    return { items: keys.flatMap((key) => this.#entries.get(key) ?? []), more }
  }

  #findRead(words: EventFilter['words'], limit: number): { items: EventEntry[]; more: boolean } {
    const items = [...this.#entries.values()].toReversed().filter(eventMatcher({ words }))
    return { items: items.slice(0, limit), more: items.length > limit }
  }

  async #readNewest(): Promise<void> {
    /** Entries added while the log is being read. */
    const meanwhile: EventEntry[] = []
    let isRead = false
    const unsubscribe = this.#log.onAdded((entries) => {
      if (!isRead) meanwhile.push(...entries)
      else for (const entry of entries) this.#add(entry)
    })
    try {
      const newest = await this.#log.query({ limit: pageLength })
      for (const entry of [...newest.items.toReversed(), ...meanwhile]) this.#add(entry)
      isRead = true
    } catch (error) {
      unsubscribe()
      throw error
    }
  }

  #add(entry: EventEntry): void {
    const key = String(entry.seq)
    this.#entries.set(key, entry)
    this.#index.put(key, searchedTexts.event(entry))
    if (this.#entries.size <= maxEvents) return
    const [oldest = ''] = this.#entries.keys()
    this.#entries.delete(oldest)
    this.#index.delete(oldest)
  }
}
