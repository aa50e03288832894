import type { EventEntry, LogFault, LogVerdict } from '../../../shared/domain/events.ts'
import { type DatabaseSession, inDatabaseTransaction } from '../../store/postgres/database-session.ts'
import type { Sealer } from '../../store/sealer.ts'
import {
  beginning,
  type ChainEnd,
  eventEntryOf,
  type EventContent,
  lineAfter,
  noHash,
  linePlaceOf,
} from '../entry-line.ts'
import { faultOfHead, type LogHead } from '../log-seal.ts'
import { linesToRemove, type LogBounds } from '../segments.ts'
import {
  addRows,
  bytesOf,
  linesOfChanges,
  type EventRow,
  lockLog,
  type LockedLog,
  readRows,
  removeRows,
  type Source,
  readSiteHead,
} from './event-rows.ts'
import { ChainWalk, type VerifiedEntries, verdictWithoutHead } from '../verify.ts'

export interface EntryController {
  id: string
  name: string
}

/** Maximum number of rows read and deleted at once. */
const clearedAtOnce = 20_000

/** State from which the chain continues. */
interface ChainState {
  oldest: LogHead['oldest']
  end: ChainEnd
  fault: LogFault | undefined
}

interface Added {
  /** Number of the last line before the added entries. */
  before: number
  entries: readonly EventEntry[]
  /** Fault that was found in the log, reported by the first added entry; undefined: none. */
  fault: LogFault | undefined
}

/** Thrown if the last copied entry of this controller is not the expected entry. Nothing was added. */
export class OtherSourceError extends Error {
  readonly source: Source | undefined
  constructor(source: Source | undefined) {
    super('the log of the site holds another last entry of this controller')
    this.source = source
  }
}

/**
 * Adds entries of a controller's own log to the chain of the site. Each writer locks the log, so that all controllers
 * continue the same chain.
 * @param source expected last copied entry of this controller
 * @throws OtherSourceError when the last copied entry differs: the database was restored to an older state, or this is
 * the first call; errors of the database
 */
export async function addToChain(
  session: DatabaseSession,
  sealer: Pick<Sealer, 'proof'>,
  controller: EntryController,
  source: Source | undefined,
  own: readonly EventEntry[],
): Promise<Added> {
  return await inDatabaseTransaction(session, async () => {
    const locked = await lockLog(session, sealer, controller.id)
    if (locked.source?.hash !== source?.hash || locked.source?.seq !== source?.seq)
      throw new OtherSourceError(locked.source)
    const { oldest, end, fault } = await continued(session, locked)
    const known = await knownChanges(session, own)
    const contents: EventContent[] = own
      .filter(({ change }) => change === undefined || !known.has(change))
      .map((entry) => contentOf(entry, controller))
    if (fault !== undefined) contents.unshift(recovered(fault, controller))
    const rows: EventRow[] = []
    const entries: EventEntry[] = []
    let last = end
    for (const content of contents) {
      const { line, entry } = lineAfter(last, content)
      rows.push({ seq: entry.seq, line: line.trimEnd() })
      entries.push(entry)
      last = entry
    }
    const newest = own.at(-1)
    if (newest === undefined) return { before: end.seq, entries: [], fault: undefined }
    const head = { oldest, newest: { seq: last.seq, hash: last.hash } }
    const { seq, hash, at } = newest
    await addRows(session, sealer, { rows, head, controller: controller.id, source: { seq, hash, at } })
    return { before: end.seq, entries, fault }
  })
}

/** Deletes the oldest entries that exceed the limits. @throws errors of the database */
export async function clearChain(
  session: DatabaseSession,
  sealer: Pick<Sealer, 'proof'>,
  bounds: LogBounds,
  now: number,
): Promise<void> {
  await inDatabaseTransaction(session, async () => {
    const { head, bytes } = await lockLog(session, sealer, noController)
    // A log with a fault is not shortened: that would hide the fault.
    if (head.state !== 'good') return
    const { oldest, newest } = head.head
    const rows = await readRows(session, { after: oldest.seq - 1, limit: clearedAtOnce })
    const count = linesToRemove(rows, bounds, bytes, now)
    const removed = rows.slice(0, count)
    const first = rows[count]
    const place = first === undefined ? undefined : linePlaceOf(Buffer.from(first.line))
    if (removed.length === 0 || place === undefined) return
    const shortened = { oldest: { seq: place.seq, prev: place.prev }, newest }
    await removeRows(session, sealer, shortened, bytesOf(removed))
  })
}

/** Id that belongs to no controller, for locking the log without adding entries. */
const noController = '00000000-0000-0000-0000-000000000000'

/** Finds the end of the chain. A chain with a fault is continued so that every later check finds the fault too. */
async function continued(session: DatabaseSession, { head, first, last }: LockedLog): Promise<ChainState> {
  if (head.state !== 'good') {
    if (last === 0 && head.state === 'missing')
      return { oldest: { seq: 1, prev: noHash }, end: beginning, fault: undefined }
    const [row] = first === 0 ? [] : await readRows(session, { after: first - 1, limit: 1 })
    const prev = row === undefined ? noHash : (linePlaceOf(Buffer.from(row.line))?.prev ?? noHash)
    return {
      oldest: { seq: Math.max(1, first), prev },
      end: { seq: last, hash: noHash },
      fault: faultOfHead(head.state),
    }
  }
  const { oldest, newest } = head.head
  if (last > newest.seq) return { oldest, end: { seq: last, hash: noHash }, fault: 'changed' }
  const isEmpty = newest.seq < oldest.seq
  const [row] = isEmpty ? [] : await readRows(session, { after: newest.seq - 1, to: newest.seq, limit: 1 })
  const place = row === undefined ? undefined : linePlaceOf(Buffer.from(row.line))
  const fault = isEmpty || place?.hash === newest.hash ? undefined : place === undefined ? 'cutOff' : 'changed'
  return { oldest, end: newest, fault }
}

/** Returns the ids of stored events that are already in the chain: another controller logged them meanwhile. */
async function knownChanges(session: DatabaseSession, own: readonly EventEntry[]): Promise<Set<string>> {
  const ids = own.flatMap(({ change }) => change ?? [])
  const lines = ids.length === 0 ? [] : await linesOfChanges(session, ids)
  return new Set(lines.flatMap((line) => eventEntryOf(line)?.change ?? []))
}

function contentOf(entry: EventEntry, { id, name }: EntryController): EventContent {
  const { seq, prev: _prev, hash: _hash, ...content } = entry
  return { ...content, controller: { id, name, seq } }
}

function recovered(fault: LogFault, { id, name }: EntryController): EventContent {
  return {
    at: Date.now(),
    kind: 'log.recovered',
    level: 'error',
    actor: { type: 'system', name: '', address: '' },
    subject: { type: 'site', id: '', name: '' },
    room: '',
    params: { fault, dropped: 0 },
    controller: { id, name, seq: 0 },
  }
}

/** Number of lines read together: about a megabyte. */
const linesAtOnce = 2_000

/**
 * Reads a consistent state of the event log of a site in a database, and checks whether an entry was changed or
 * removed. Only a holder of the site's key can seal the log.
 * @throws errors of the database; the signal's reason
 */
export async function verifySiteLog(
  session: DatabaseSession,
  sealer: Pick<Sealer, 'proof'>,
  signal?: AbortSignal,
): Promise<LogVerdict> {
  const startedAt = performance.now()
  const found = await inDatabaseTransaction(
    session,
    () => walk(session, sealer, signal),
    'isolation level repeatable read read only',
  )
  return { ...found, milliseconds: Math.round(performance.now() - startedAt) }
}

async function walk(
  session: DatabaseSession,
  sealer: Pick<Sealer, 'proof'>,
  signal: AbortSignal | undefined,
): Promise<VerifiedEntries> {
  const { read, first, last } = await readSiteHead(session, sealer)
  if (read.state !== 'good') return verdictWithoutHead(read.state, last === 0 ? undefined : Math.max(1, first))
  const chain = new ChainWalk(read.head)
  for (let after = read.head.oldest.seq - 1; ; ) {
    signal?.throwIfAborted()
    const rows = await readRows(session, { after, limit: linesAtOnce })
    if (rows.some(({ line }) => !chain.take(Buffer.from(line)))) break
    const end = rows.at(-1)
    if (end === undefined) break
    after = end.seq
  }
  const found = chain.end()
  // Lines and their seal are stored in one transaction, so a line after the seal is from another writer.
  if (!found.ok || found.unsealed === 0) return found
  return { ...found, ok: false, fault: 'changed', first_bad: read.head.newest.seq + 1 }
}
