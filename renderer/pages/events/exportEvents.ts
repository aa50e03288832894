import Papa from 'papaparse'
import type { EventEntry, EventFilter } from '../../../shared/console/events.ts'
import type { ConsoleClient } from '../../transport/client.ts'

/** Entries of one export: what a page can hold without harm. */
export const mostExported = 100_000
const pageSize = 500

/** Reads what matches, page by page, newest first, up to the bound. */
export async function collectEvents(
  client: Pick<ConsoleClient, 'call'>,
  filter: EventFilter,
): Promise<{ items: EventEntry[]; complete: boolean }> {
  const items: EventEntry[] = []
  let before: number | undefined
  while (items.length < mostExported) {
    const answer = await client.call('events.list', {
      ...filter,
      limit: pageSize,
      ...(before === undefined ? {} : { before }),
    })
    items.push(...answer.items)
    if (answer.next === 0) return { items, complete: true }
    before = answer.next
  }
  return { items: items.slice(0, mostExported), complete: false }
}

/** One entry a line, as the log holds it, oldest first. */
export function asLines(entries: readonly EventEntry[]): string {
  return entries
    .toReversed()
    .map((entry) => `${JSON.stringify(entry)}\n`)
    .join('')
}

/** RFC 4180 with a header, oldest first. A text that a spreadsheet would take for a formula is made one that it does not. */
export function asCsv(entries: readonly EventEntry[], sentence: (entry: EventEntry) => string): string {
  const rows = entries.toReversed().map((entry) => ({
    seq: entry.seq,
    time: new Date(entry.at).toISOString(),
    level: entry.level,
    kind: entry.kind,
    what: sentence(entry),
    actor_type: entry.actor.type,
    actor: entry.actor.name,
    address: entry.actor.address,
    subject_type: entry.subject.type,
    subject_id: entry.subject.id,
    subject: entry.subject.name,
    room: entry.room,
    params: JSON.stringify(entry.params),
    before: entry.before === undefined ? '' : JSON.stringify(entry.before),
    after: entry.after === undefined ? '' : JSON.stringify(entry.after),
    hash: entry.hash,
  }))
  return `${Papa.unparse(rows, { newline: '\r\n', escapeFormulae: true })}\r\n`
}
