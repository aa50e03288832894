import Papa from 'papaparse'
import type { EventEntry, EventFilter } from '../../../../shared/domain/events.ts'
import { shownName } from '../../../../shared/control-character.ts'
import { guardFormula } from '../../../../shared/formula-guard.ts'
import type { ConsoleClient } from '../../../kit/transport/client.ts'

/** Maximum number of exported entries, limited by the page's memory. */
const maxExported = 100_000
const pageSize = 500

/** Loads matching entries, page by page, newest first, up to the limit. */
export async function collectEvents(
  client: Pick<ConsoleClient, 'call'>,
  filter: EventFilter,
  shows: (entry: EventEntry) => boolean = () => true,
): Promise<{ items: EventEntry[]; complete: boolean }> {
  const items: EventEntry[] = []
  let before: number | undefined
  while (items.length < maxExported) {
    const answer = await client.call('events.list', {
      ...filter,
      limit: pageSize,
      ...(before === undefined ? {} : { before }),
    })
    items.push(...answer.items.filter(shows))
    if (answer.next === 0) return { items, complete: true }
    before = answer.next
  }
  return { items: items.slice(0, maxExported), complete: false }
}

/** Formats one entry per line, as in the log, oldest first. */
export function asLines(entries: readonly EventEntry[]): string {
  return entries
    .toReversed()
    .map((entry) => `${JSON.stringify(entry)}\n`)
    .join('')
}

/**
 * Formats entries as CSV (RFC 4180) with a header, oldest first. Texts that a spreadsheet would read as formulas are
 * guarded by an apostrophe.
 */
export function asCsv(entries: readonly EventEntry[], sentence: (entry: EventEntry) => string): string {
  const rows = entries.toReversed().map((entry) =>
    shownCells({
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
      controller: entry.controller?.name ?? '',
      params: JSON.stringify(entry.params),
      before: entry.before === undefined ? '' : JSON.stringify(entry.before),
      after: entry.after === undefined ? '' : JSON.stringify(entry.after),
      hash: entry.hash,
    }),
  )
  return `${Papa.unparse(rows, { newline: '\r\n', quotes: isGuarded })}\r\n`
}

/** Returns whether a cell has a guard, which must be quoted: for every program, it is then part of the text. */
function isGuarded(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith("'")
}

/**
 * Replaces control characters and direction marks: logs of earlier versions may contain names that are now forbidden.
 */
function shownCells(cells: Record<string, string | number>): Record<string, string | number> {
  const shown = Object.entries(cells).map(([name, value]) => [
    name,
    typeof value === 'string' ? guardFormula(shownName(value)) : value,
  ])
  return Object.fromEntries(shown) as Record<string, string | number>
}
