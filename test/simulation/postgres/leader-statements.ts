import type { Statement } from './server-session.ts'
import { type StatementModel, answer, counted } from './statements.ts'
import { isTerm, type LeaderRow } from './tables.ts'

/** The lease is over, or there is none. */
function isOver(row: LeaderRow | undefined, clock: number): boolean {
  return row?.renewedAt !== undefined && row.renewedAt !== null && row.renewedAt + row.leaseMs < clock
}

/** Changes the leader's row under its lock, where it is still the one that is meant. */
async function updateLeader(
  statement: Statement,
  fits: (row: LeaderRow) => boolean,
  change: (row: LeaderRow, clock: number) => LeaderRow,
): Promise<LeaderRow | undefined> {
  const before = statement.tables.leader
  // A row that does not fit before is not locked; one that does is looked at again under its lock (READ COMMITTED).
  if (before === undefined || !fits(before)) return undefined
  await statement.lock('update')
  const row = statement.tables.leader
  if (row === undefined || !fits(row)) return undefined
  const changed = change(row, statement.clock)
  statement.change((all) => void (all.leader = changed))
  return changed
}

const text = (value: unknown): string => String(value)

/** Statements about the leader: its lock, its row, its lease. */
export const leaderStatements: readonly StatementModel[] = [
  {
    words: 'select pg_try_advisory_lock(',
    run: ({ server, session }) => {
      if (server.lockHolder !== undefined && server.lockHolder !== session) return answer({ ours: false })
      server.lockDepth = server.lockHolder === session ? server.lockDepth + 1 : 1
      server.lockHolder = session
      return answer({ ours: true })
    },
  },
  {
    words: 'select pg_advisory_unlock(',
    run: (statement) => {
      const { server, session } = statement
      if (server.lockHolder === session && --server.lockDepth === 0) server.lockHolder = undefined
      statement.notify()
      return answer({})
    },
  },
  {
    words: 'insert into roomdesk_leader as l … on conflict (id) do update set epoch = l.epoch + 1',
    run: async (statement, [holder, name, controller, leaseMs, term, block]) => {
      await statement.lock('update')
      const clock = statement.clock
      const row: LeaderRow = {
        epoch: (statement.tables.leader?.epoch ?? 0) + 1,
        term: text(term),
        roomNumbers: (statement.tables.leader?.roomNumbers ?? 0) + Number(block),
        holder: text(holder),
        name: text(name),
        since: clock,
        controller: typeof controller === 'string' ? controller : null,
        renewedAt: Number(leaseMs) > 0 ? clock : null,
        leaseMs: Number(leaseMs),
        successor: null,
        successorUntil: null,
        readsMs: statement.tables.leader?.readsMs ?? 0,
      }
      statement.change((all) => void (all.leader = row))
      statement.notify()
      return answer({
        epoch: text(row.epoch),
        room_numbers: text(row.roomNumbers),
        reads_ms: row.readsMs,
        heed_reads: true,
      })
    },
  },
  {
    words: 'update roomdesk_leader set epoch = epoch + 1, term',
    run: async (statement, [holder, term, roomNumbers]) => {
      const row = await updateLeader(
        statement,
        (found) => found.holder === holder,
        (found, clock) => ({
          ...found,
          epoch: found.epoch + 1,
          term: text(term),
          roomNumbers: Math.max(found.roomNumbers, Number(roomNumbers)),
          renewedAt: found.leaseMs > 0 ? clock : null,
          successor: null,
        }),
      )
      statement.notify()
      return row === undefined ? answer() : answer({ epoch: text(row.epoch) })
    },
  },
  {
    words:
      'update roomdesk_leader set renewed_at = clock_timestamp(), reads_ms = $3 where id = 1 and epoch = $1 and term = $2',
    run: async (statement, [epoch, term, readsMs]) => {
      const row = await updateLeader(
        statement,
        (found) => text(found.epoch) === epoch && found.term === term,
        (found, clock) => ({ ...found, renewedAt: clock, readsMs: Number(readsMs) }),
      )
      return counted(row === undefined ? 0 : 1)
    },
  },
  {
    words: 'update roomdesk_leader set renewed_at = null, room_numbers = $3 where id = 1 and epoch = $1 and term = $2',
    run: async (statement, [epoch, term, roomNumbers]) => {
      const row = await updateLeader(
        statement,
        (found) => text(found.epoch) === epoch && found.term === term,
        (found) => ({ ...found, renewedAt: null, roomNumbers: Number(roomNumbers) }),
      )
      return counted(row === undefined ? 0 : 1)
    },
  },
  {
    words: 'update roomdesk_leader set successor = $3, successor_until',
    run: async (statement, [epoch, term, successor, forMs, roomNumbers]) => {
      const row = await updateLeader(
        statement,
        (found) => text(found.epoch) === epoch && found.term === term,
        (found, clock) => ({
          ...found,
          roomNumbers: Number(roomNumbers),
          successor: text(successor),
          successorUntil: clock + Number(forMs),
          renewedAt: null,
        }),
      )
      return counted(row === undefined ? 0 : 1)
    },
  },
  {
    words:
      'update roomdesk_leader set room_numbers = greatest(room_numbers, $3) where id = 1 and epoch = $1 and term = $2',
    run: async (statement, [epoch, term, wanted]) => {
      const row = await updateLeader(
        statement,
        (found) => text(found.epoch) === epoch && found.term === term,
        (found) => ({ ...found, roomNumbers: Math.max(found.roomNumbers, Number(wanted)) }),
      )
      return counted(row === undefined ? 0 : 1)
    },
  },
  {
    words: 'select 1 from roomdesk_leader where id = 1 and epoch = $1 and term = $2 for share',
    run: async (statement, [epoch, term]) => {
      if (!isTerm(statement.tables, epoch, term)) return counted(0)
      await statement.lock('share')
      return counted(isTerm(statement.tables, epoch, term) ? 1 : 0)
    },
  },
  {
    words: 'select 1 from roomdesk_leader where id = 1 and epoch = $1 and term = $2.',
    run: ({ tables }, [epoch, term]) => counted(isTerm(tables, epoch, term) ? 1 : 0),
  },
  {
    words:
      'select pg_terminate_backend(pid) from (select pid from pg_locks … where exists (select 1 from roomdesk_leader where id = 1 and epoch = $1 and term = $2)',
    run: (statement, [epoch, term]) => {
      const { server, session, tables } = statement
      const holder = server.lockHolder
      if (isTerm(tables, epoch, term) && holder !== undefined && holder !== session)
        holder.end('terminating connection due to administrator command')
      return answer({})
    },
  },
  {
    words: 'select pg_terminate_backend(a.pid) from pg_stat_activity a join (select pid',
    run: (statement) => {
      const { server, session, tables, clock } = statement
      const holder = server.lockHolder
      const isBusy = holder?.busySince !== undefined && holder.busySince > clock - 5_000
      if (holder !== undefined && holder !== session && isOver(tables.leader, clock) && !isBusy)
        holder.end('terminating connection due to administrator command')
      return answer({})
    },
  },
  {
    words: 'select pg_terminate_backend(a.pid) from pg_stat_activity a join pg_locks',
    run: (statement) => {
      const { server, session, tables, clock } = statement
      if (!isOver(tables.leader, clock)) return answer({})
      for (const other of [...server.sessions]) {
        const isIdle = other.transaction !== undefined && other.busySince === undefined
        if (other !== session && isIdle && server.leaderRow.holders.includes(other))
          other.end('terminating connection due to administrator command')
      }
      return answer({})
    },
  },
  {
    words: 'select name from roomdesk_leader',
    run: ({ tables }) => answer({ name: tables.leader?.name ?? '' }),
  },
  {
    words: 'select l.epoch, l.term, l.room_numbers as "roomNumbers", l.holder, l.name, l.controller',
    run: ({ tables, clock }) => {
      const row = tables.leader
      if (row === undefined) return answer()
      const controller = row.controller === null ? undefined : tables.controllers.get(row.controller)
      return answer({
        epoch: text(row.epoch),
        term: row.term,
        roomNumbers: text(row.roomNumbers),
        holder: row.holder,
        name: row.name,
        controller: row.controller,
        leaseLeft: row.renewedAt === null ? null : row.renewedAt + row.leaseMs - clock,
        successor: row.successorUntil !== null && row.successorUntil > clock ? row.successor : null,
        version: controller?.version ?? null,
        place: controller?.place ?? null,
        applied: controller === undefined ? null : text(controller.applied),
        seenAgo: controller === undefined ? null : clock - controller.seenAt,
        since: row.since,
      })
    },
  },
]
