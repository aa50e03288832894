import { eventMatcher } from '../../shared/console/event-matcher.ts'
import type { EventEntry, EventFilter } from '../../shared/console/events.ts'
import { entryOf, placeOf } from './entry-line.ts'

/** Takes lines, newest first, and keeps the entries that match. */
export class PageOfLines {
  readonly #matches: (entry: EventEntry) => boolean
  readonly #needles: readonly string[]
  readonly #text: string
  readonly #before: number
  readonly #limit: number
  readonly #items: EventEntry[]
  /** The last entry that was read. */
  last: number

  constructor(filter: EventFilter, before: number, limit: number, items: EventEntry[]) {
    this.#matches = eventMatcher(filter)
    // As JSON spells them: a line without them need not be parsed.
    const words = [filter.subject?.id, filter.actor].filter((word) => word !== undefined)
    this.#needles = words.map((word) => JSON.stringify(word))
    const text = filter.text?.trim().toLowerCase() ?? ''
    this.#text = /^[\w .:-]*$/.test(text) ? text : ''
    this.#before = before
    this.last = before
    this.#limit = limit
    this.#items = items
  }

  get isFull(): boolean {
    return this.#items.length >= this.#limit
  }

  take(line: Buffer): void {
    const place = placeOf(line)
    // A damaged line is the business of the check.
    if (place === undefined || place.seq >= this.#before) return
    this.last = place.seq
    if (this.#needles.some((needle) => !line.includes(needle))) return
    if (this.#text !== '' && !line.toString('latin1').toLowerCase().includes(this.#text)) return
    const entry = entryOf(line)
    if (entry !== undefined && this.#matches(entry)) this.#items.push(entry)
  }
}
