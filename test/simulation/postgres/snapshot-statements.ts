import { serverError } from './server.ts'
import { type StatementModel, answer, counted } from './statements.ts'
import type { SnapshotRow } from './tables.ts'

const shown = ({ content: _, ...row }: SnapshotRow) => ({
  ...row,
  id: String(row.id),
  seq: String(row.seq),
  room_number: String(row.room_number),
  written_at: String(row.written_at),
  bytes: String(row.bytes),
})

const newestFirst = (snapshots: readonly SnapshotRow[]): SnapshotRow[] =>
  [...snapshots].sort((one, other) => other.id - one.id)

/** Snapshots that transactions are writing, by session. */
const written = new WeakMap<object, SnapshotRow>()

/** Statements about snapshots. A transaction that writes one is not read by itself. */
export const snapshotStatements: readonly StatementModel[] = [
  {
    words: 'begin.',
    run: ({ session }) => {
      session.begin(false)
      return counted(0)
    },
  },
  {
    words: 'insert into roomdesk_snapshot (seq, records',
    run: ({ session, server }, [seq, records, room_number, written_at]) => {
      if (server.role !== 'primary') throw serverError('25006', 'cannot execute INSERT in a read-only transaction')
      const id = server.nextSnapshot()
      const [bytes, parts] = [0, 0]
      const numbers = { seq: Number(seq), records: Number(records), room_number: Number(room_number) }
      written.set(session, { id, ...numbers, written_at: Number(written_at), bytes, parts, content: [] })
      return answer({ id: String(id) })
    },
  },
  {
    words: 'insert into roomdesk_snapshot_part (snapshot',
    run: ({ session }, [, part, checksum, lines]) => {
      written.get(session)?.content.push({ part: Number(part), checksum: String(checksum), lines: String(lines) })
      return counted(1)
    },
  },
  {
    words: 'update roomdesk_snapshot set parts = $2, bytes = $3 where id = $1',
    run: (statement, [, parts, bytes]) => {
      const row = written.get(statement.session)
      if (row === undefined) return counted(0)
      const whole = { ...row, parts: Number(parts), bytes: Number(bytes) }
      statement.change((all) => void (all.snapshots = [...all.snapshots, whole]))
      return counted(1)
    },
  },
  {
    words: 'delete from roomdesk_snapshot where id not in',
    run: (statement) => {
      const keep = new Set(
        newestFirst(statement.tables.snapshots)
          .slice(0, 2)
          .map(({ id }) => id),
      )
      const newest = Math.max(0, ...keep)
      statement.change((all) => void (all.snapshots = all.snapshots.filter(({ id }) => keep.has(id) || id > newest)))
      return counted(0)
    },
  },
  {
    words: 'select * from roomdesk_snapshot order by id desc',
    run: ({ tables }) => answer(...newestFirst(tables.snapshots).map(shown)),
  },
  {
    words: 'select seq, bytes, written_at as at from roomdesk_snapshot order by id desc limit 1',
    run: ({ tables }) => {
      const [newest] = newestFirst(tables.snapshots)
      return newest === undefined ? answer() : answer({ ...shown(newest), at: String(newest.written_at) })
    },
  },
  {
    words: 'select part, checksum, lines from roomdesk_snapshot_part where snapshot = $1',
    run: ({ tables }, [id, from]) => {
      const content = tables.snapshots.find((row) => String(row.id) === String(id))?.content ?? []
      return answer(...content.filter(({ part }) => part >= Number(from)).slice(0, 64))
    },
  },
]
