import { onAbort } from '../../../shared/abort.ts'
import { crc32 } from 'node:zlib'
import { checksum } from '../files/document-reader.ts'
import { collectionNames, type State } from '../state.ts'
import type { CollectionName } from '../store.ts'
import type { DatabaseAddress } from './database-address.ts'
import { fencedError, ofTerm, type Term } from '../election/leader.ts'
import { longAnswer, Session } from './database-session.ts'
import type { SessionDeadlines } from '../store-options.ts'

/** Characters of a part: about 1 ms of JSON.stringify. */
const partLength = 128 * 1024
/** Rows of the journal that are deleted together. */
const deleted = 20_000

/** The records of one collection at one instant. Values are never mutated, so references are a whole copy. */
interface Frozen {
  collection: CollectionName
  keys: readonly string[]
  values: readonly object[]
}

/** All records at one instant. */
export function freeze(state: State): readonly Frozen[] {
  return collectionNames.map((collection) => {
    const map: ReadonlyMap<string, object> = state[collection]
    return { collection, keys: [...map.keys()], values: [...map.values()] }
  })
}

/** Lines of `["collection","key",{...}]`, gathered into parts. */
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

/** Header of a snapshot. */
export interface SnapshotHead {
  /** Number of the last journal line whose changes it holds. */
  seq: number
  /** Schema version of its records. */
  records: number
  roomNumber: number
  /** Milliseconds since the epoch. */
  writtenAt: number
}

/** Writes a snapshot in the transaction that is under way, unless another controller has taken over. @param term that must still last at its end @returns bytes of the snapshot */
export async function insertSnapshot(
  session: Session,
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
  // At last: who takes over waits for the end of this, and not for the parts.
  const { epoch, id: termId } = term()
  const led = await session.query(`select 1 from roomdesk_leader where ${ofTerm('$1', '$2')} for share`, [
    epoch,
    termId,
  ])
  if (led.rowCount !== 1) throw await fencedError(session)
  return bytes
}

/** Writes a snapshot by a connection of its own, so that journal lines need not wait for it; what the two newest make superfluous goes. @param signal cuts it short @returns its bytes */
export async function writeSnapshot(
  address: DatabaseAddress,
  deadlines: SessionDeadlines,
  head: SnapshotHead,
  frozen: readonly Frozen[],
  term: () => Term,
  signal: AbortSignal,
): Promise<number> {
  const session = await Session.open(address, deadlines, longAnswer)
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

/** Two snapshots stay, and the journal lines behind the older one: falling back by one loses nothing. */
async function prune(session: Session): Promise<void> {
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
