import { type StatementModel, answer, counted } from './statements.ts'
import { type ControllerRow, firstAt, headOf, type Tables } from './tables.ts'

/** How long the oldest line behind one has been stored, in milliseconds; 0: there is none. */
function waitingFor({ journal }: Tables, applied: number, clock: number): number {
  const oldest = journal[firstAt(journal, applied + 1)]
  return oldest === undefined ? 0 : clock - oldest.at
}

/** Statements about the rows that controllers write of themselves. */
export const controllerStatements: readonly StatementModel[] = [
  {
    words: 'insert into roomdesk_controller as c',
    run: (statement, [id, name, version, place, applied, since, folder, freeAfterMs, isConfirmed]) => {
      const { tables, clock } = statement
      statement.isQuick = isConfirmed !== true
      const row: ControllerRow = {
        id: String(id),
        name: String(name),
        version: String(version),
        place: JSON.parse(String(place)),
        applied: Number(applied),
        behind: Math.max(0, headOf(tables) - Number(applied)),
        behindMs: waitingFor(tables, Number(applied), clock),
        seenAt: clock,
        since: Number(since) * 1_000,
        folder: String(folder),
      }
      const before = tables.controllers.get(row.id)
      if (before !== undefined && before.folder !== row.folder && before.seenAt >= clock - Number(freeAfterMs))
        return counted(0)
      statement.change((all) => void (all.controllers = new Map(all.controllers).set(row.id, row)))
      return counted(1)
    },
  },
  {
    words: 'select c.id, c.name, c.version, c.place … from roomdesk_controller c left join roomdesk_leader',
    run: ({ tables, clock }, [first, silentMs]) => {
      const { leader } = tables
      const rows = [...tables.controllers.values()]
        .filter(({ seenAt }) => seenAt > clock - 86_400_000)
        .sort((one, other) => Number(one.id !== first) - Number(other.id !== first) || (one.name < other.name ? -1 : 1))
        .map((row) => {
          const seenAgo = clock - row.seenAt
          const isSilent = seenAgo > Number(silentMs)
          const lease = leader?.renewedAt
          const counts = lease === null || lease === undefined || lease + (leader?.leaseMs ?? 0) > clock
          return {
            id: row.id,
            name: row.name,
            version: row.version,
            place: row.place,
            since: row.since,
            // Simulated controllers are all of this version.
            heedsReads: true,
            leads: leader?.controller === row.id && counts,
            seenAgo,
            behind: String(isSilent ? Math.max(0, headOf(tables) - row.applied) : row.behind),
            behindFor: isSilent ? waitingFor(tables, row.applied, clock) : row.behindMs,
          }
        })
      return answer(...rows)
    },
  },
]
