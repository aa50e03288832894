import { open, readFile } from 'node:fs/promises'
import { insideOf } from '../../shared/files/own-path.ts'
import { hasCode } from '../../shared/error-code.ts'
import type { EventEntry, EventFilter } from '../../shared/domain/events.ts'
import { maxLine, type LogSegment } from './segments.ts'
import { eventEntryOf, linePlaceOf } from './entry-line.ts'
import { eventMatcher } from '../../shared/console/event-matcher.ts'

const chunkBytes = 256 * 1024

interface ReadBack {
  filter: EventFilter
  /** Number before which entries are read. */
  before: number
  limit: number
  /** Maximum number of bytes read. */
  budget: number
}

/**
 * Reads matching entries from the end of the files, newest first. Stops at the limit, at the end of the log, or when
 * the budget is used up.
 * @returns `next`: number of the last entry read; 0: no older entries
 */
export async function readBack(
  folder: string,
  segments: readonly LogSegment[],
  { filter, before, limit, budget }: ReadBack,
): Promise<{ items: EventEntry[]; next: number }> {
  const items: EventEntry[] = []
  const page = new PageOfLines(filter, before, limit, items)
  const oldest = segments[0]?.first ?? 0
  for (const segment of segments.toReversed()) {
    if (segment.first >= before) continue
    if (filter.to !== undefined && segment.at > filter.to) continue
    try {
      budget = await readSegment(insideOf(folder, segment.name), page, budget)
    } catch (error) {
      // The file expired and was deleted during the query.
      if (!hasCode(error, 'ENOENT')) throw error
      return { items, next: 0 }
    }
    if (page.isFull) return { items, next: page.last > oldest ? page.last : 0 }
    if (filter.from !== undefined && segment.at > 0 && segment.at < filter.from) return { items, next: 0 }
    if (budget <= 0) return { items, next: page.last > oldest ? page.last : 0 }
  }
  return { items, next: 0 }
}

/** Reads a file from its end, chunk by chunk. @returns the rest of the budget */
async function readSegment(path: string, page: PageOfLines, budget: number): Promise<number> {
  const handle = await open(path, 'r')
  try {
    let { size: end } = await handle.stat()
    /** End of a line whose start is in the preceding chunk. */
    let rest = Buffer.alloc(0)
    while (end > 0 && budget > 0 && !page.isFull) {
      const start = Math.max(0, end - chunkBytes)
      const chunk = Buffer.allocUnsafe(end - start + rest.length)
      const { bytesRead } = await handle.read(chunk, 0, end - start, start)
      budget -= bytesRead
      rest.copy(chunk, end - start)
      const cut = start === 0 ? 0 : chunk.indexOf(0x0a) + 1
      // The log has no line longer than a chunk.
      rest = cut === 0 && start > 0 ? Buffer.alloc(0) : Buffer.from(chunk.subarray(0, start === 0 ? 0 : cut))
      if (rest.length > maxLine + 1) rest = Buffer.alloc(0)
      takeLines(chunk.subarray(start === 0 ? 0 : cut), page)
      end = start
    }
    return budget
  } finally {
    await handle.close()
  }
}

function takeLines(lines: Buffer, page: PageOfLines): void {
  let end = lines.length
  while (end > 0 && !page.isFull) {
    const stop = lines[end - 1] === 0x0a ? end - 1 : end
    const from = stop === 0 ? 0 : lines.lastIndexOf(0x0a, stop - 1) + 1
    if (stop > from) page.take(lines.subarray(from, stop))
    end = from
  }
}

/** Reads entries after a number, oldest first. Skips deleted and damaged entries. @throws errors of the file system */
export async function readForward(
  folder: string,
  segments: readonly LogSegment[],
  after: number,
  limit: number,
): Promise<EventEntry[]> {
  const entries: EventEntry[] = []
  for (const [index, { name }] of segments.entries()) {
    const next = segments[index + 1]
    if (next !== undefined && next.first <= after + 1) continue
    const text = await contentOf(insideOf(folder, name))
    for (let from = 0; from < text.length && entries.length < limit; ) {
      const newline = text.indexOf(0x0a, from)
      if (newline === -1) break
      const line = text.subarray(from, newline)
      from = newline + 1
      const entry = (linePlaceOf(line)?.seq ?? 0) > after ? eventEntryOf(line) : undefined
      if (entry !== undefined) entries.push(entry)
    }
    if (entries.length >= limit) break
  }
  return entries
}

/** Reads a segment (a few megabytes); empty if it was deleted meanwhile. */
async function contentOf(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return Buffer.alloc(0)
    throw error
  }
}

/** Collects the matching entries of lines. The newest line is passed first. */
export class PageOfLines {
  readonly #matches: (entry: EventEntry) => boolean
  readonly #needles: readonly string[]
  readonly #text: string
  readonly #before: number
  readonly #limit: number
  readonly #items: EventEntry[]
  /** Number of the last entry read. */
  last: number

  constructor(filter: EventFilter, before: number, limit: number, items: EventEntry[]) {
    this.#matches = eventMatcher(filter)
    // JSON strings of the search words: a line without these strings need not be parsed.
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
    const place = linePlaceOf(line)
    // Damaged lines are skipped; verification reports damage.
    if (place === undefined || place.seq >= this.#before) return
    this.last = place.seq
    if (this.#needles.some((needle) => !line.includes(needle))) return
    if (this.#text !== '' && !line.toString('latin1').toLowerCase().includes(this.#text)) return
    const entry = eventEntryOf(line)
    if (entry !== undefined && this.#matches(entry)) this.#items.push(entry)
  }
}

/** Log that is read in pages. */
interface QueriedLog {
  query(query: EventFilter & { before: number; limit: number }): Promise<{ items: EventEntry[]; next: number }>
}

/**
 * Yields the matching entries of a log in pages, newest first.
 * @param limit maximum number of entries of a page
 * @throws errors of the file system
 */
export async function* entryPages(log: QueriedLog, filter: EventFilter, limit: number): AsyncGenerator<EventEntry[]> {
  for (let before = Number.MAX_SAFE_INTEGER; before !== 0; ) {
    const { items, next } = await log.query({ ...filter, before, limit })
    yield items
    before = next
  }
}
