import { onAbort } from '../../../shared/abort.ts'
import { crc32 } from 'node:zlib'
import { checksum } from '../files/document-reader.ts'
import { collectionNames, type State } from '../state.ts'
import type { CollectionName } from '../store.ts'
import type { DatabaseAddress } from './database-address.ts'
import { fencedError, ofTerm, type Term } from '../election/leader.ts'
import { longAnswer, DatabaseSession } from './database-session.ts'
import type { SessionDeadlines } from '../store-options.ts'

/** Length of a part, in characters: takes about 1 ms of JSON.stringify. */
const partLength = 128 * 1024
/** Number of journal rows deleted in one statement. */
const deleted = 20_000

/** The records of one collection at one instant. Values are never mutated, so references are a complete copy. */
interface Frozen {
  collection: CollectionName
  keys: readonly string[]
  values: readonly object[]
}

/** Copies references to all records at one instant. */
export function freeze(state: State): readonly Frozen[] {
  return collectionNames.map((collection) => {
    const map: ReadonlyMap<string, object> = state[collection]
    return { collection, keys: [...map.keys()], values: [...map.values()] }
  })
}

/** Generates the parts of a snapshot: lines of `["collection","key",{...}]`. */
function* partsOf(frozen: readonly Frozen[]): Generator<string, void> {
  let text = ''
  for (const { collection, keys, values } of frozen) {
    for (let i = 0; i < keys.length; i++) {
      text += `["${collection}",${JSON.stringify(keys[i])},${JSON.stringify(values[i])}]\n`
      if (text.length < partLength) continue
      yield text
      text = ''
    }
  }
  if (text !== '') yield text
}

export interface SnapshotHead {
  /** Number of the last journal line whose changes the snapshot contains. */
  seq: number
  records: number
  roomNumber: number
  /** Milliseconds since the epoch. */
  writtenAt: number
}

/**
 * Writes a snapshot in the current transaction, unless another controller has taken over.
 * @param term returns the term, which must still be valid at the end
 * @returns size of the snapshot, in bytes
 */
export async function insertSnapshot(
  session: DatabaseSession,
  head: SnapshotHead,
  frozen: readonly Frozen[],
  term: () => Term,
): Promise<number> {
  const { rows } = await session.query<{ id: string }>(
    `insert into roomdesk_snapshot (seq, records, room_number, written_at, bytes, parts) values ($1, $2, $3, $4, 0, 0) returning id`,
    [head.seq, head.records, head.roomNumber, head.writtenAt],
  )
  const id = rows[0]?.id
  let [parts, bytes] = [0, 0]
  for (const lines of partsOf(frozen)) {
    await session.query(
      'insert into roomdesk_snapshot_part (snapshot, part, checksum, lines) values ($1, $2, $3, $4)',
      [id, parts, checksum(crc32(lines)), lines],
      'part',
    )
    parts++
    bytes += Buffer.byteLength(lines)
  }
  await session.query('update roomdesk_snapshot set parts = $2, bytes = $3 where id = $1', [id, parts, bytes])
  // Checked last: a takeover waits for the end of this row lock, so the lock must not be held while the parts are
  // written.
  const { epoch, id: termId } = term()
  const led = await session.query(`select 1 from roomdesk_leader where ${ofTerm('$1', '$2')} for share`, [
    epoch,
    termId,
  ])
  if (led.rowCount !== 1) throw await fencedError(session)
  return bytes
}

/**
 * Writes a snapshot through a separate connection, so that journal lines can be stored meanwhile. Then deletes older
 * snapshots and unneeded lines: see `prune`.
 * @param signal aborts the snapshot
 * @returns size of the snapshot, in bytes
 */
export async function writeSnapshot(
  address: DatabaseAddress,
  deadlines: SessionDeadlines,
  head: SnapshotHead,
  frozen: readonly Frozen[],
  term: () => Term,
  signal: AbortSignal,
): Promise<number> {
  const session = await DatabaseSession.open(address, deadlines, longAnswer)
  const unregister = onAbort(signal, () => session.destroy())
  try {
    signal.throwIfAborted()
    await session.query('begin')
    const bytes = await insertSnapshot(session, head, frozen, term)
    await session.commit('commit')
    await prune(session)
    return bytes
  } finally {
    unregister()
    await session.close()
  }
}

/**
 * Deletes all but two snapshots, and the journal lines before the older snapshot, so that falling back by one snapshot
 * loses nothing.
 */
async function prune(session: DatabaseSession): Promise<void> {
  await session.query(
    'delete from roomdesk_snapshot where id not in (select id from roomdesk_snapshot order by id desc limit 2)',
  )
  for (;;) {
    const { rowCount } = await session.query(
      `delete from roomdesk_journal where seq in (
         select seq from roomdesk_journal
         where seq > 0 and seq <= (select case when count(*) = 2 then min(seq) end from roomdesk_snapshot)
         order by seq limit ${deleted})`,
    )
    if ((rowCount ?? 0) < deleted) return
  }
}
