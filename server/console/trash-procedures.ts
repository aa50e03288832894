import { randomBytes } from 'node:crypto'
import type { TrashKind, TrashView } from '../../shared/console/trash.ts'
import type { ProcedureOutput, ProcedureParsed } from '../../shared/console/contract.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import { inBulk } from '../rooms/bulk.ts'
import type { StoredTrash } from '../store/records.ts'
import type { Deletion, Trash } from '../store/trash/trash.ts'
import { actorOf, type CallOrigin, type ProcedureHandlers, type RestoreName } from './handlers.ts'
import { keyOf, type TrashRestore } from './trash-restore.ts'
import type { Settings } from '../../shared/settings.ts'

/** Returns a deletion by an operator that can be undone as a whole. */
export function deletionBy(origin: CallOrigin): Deletion {
  const { type, name } = actorOf(origin)
  return { by: { type: type === 'system' ? 'system' : 'operator', name }, batch: randomBytes(9).toString('base64url') }
}

/** Returns the id with which a deletion can be undone; empty: the trash contains no record of the deletion. */
export function undoOf(trash: Pick<Trash, 'ofBatch'>, { batch }: Deletion): string {
  return trash.ofBatch(batch).length === 0 ? '' : batch
}

export function trashHandlers(
  trash: Trash,
  settings: () => Settings,
  restore: TrashRestore,
  logger: NodeLogger,
): ProcedureHandlers<'trash.list' | 'trash.purge' | 'trash.empty' | RestoreName> {
  const restoring =
    (kind: TrashKind) =>
    async ({ ids, undo = '' }: ProcedureParsed<RestoreName>): Promise<ProcedureOutput<RestoreName>> => {
      const restored: string[] = []
      const wanted = ids ?? trash.ofBatch(undo)
      const run = async (id: string): Promise<void> => void restored.push(await restore.restore(kind, id))
      // If all entries of an undo id are gone, the call fails like a call with a missing entry.
      return { ...(await inBulk(wanted.length === 0 ? [undo] : wanted, logger, run)), restored }
    }
  return {
    'trash.list': ({ search, kind, offset, limit }) => {
      const text = search.trim().toLowerCase()
      const all = trash.entries()
      const matching = all.filter((entry) => {
        if (kind !== undefined && entry.kind !== kind) return false
        return text === '' || keyOf(entry).toLowerCase().includes(text) || nameOf(entry).toLowerCase().includes(text)
      })
      const items = matching.slice(offset, offset + limit).map(viewOf)
      return { total: matching.length, all: all.length, items, full: trash.index.isFull(), days: settings().trash.days }
    },
    'trash.purge': async ({ ids }) => ({ done: (await trash.purge(ids)).length }),
    'trash.empty': async () => ({ done: (await trash.purge(trash.entries().map(({ id }) => id))).length }),
    'rooms.restore': restoring('rooms'),
    'devices.restore': restoring('devices'),
    'credentials.restore': restoring('credentials'),
    'nodes.restore': restoring('nodes'),
    'wall.restore': restoring('wall_views'),
  }
}

function viewOf(entry: StoredTrash): TrashView {
  const { id, kind, deleted_at, expires_at, deleted_by } = entry
  return {
    id,
    kind,
    key: keyOf(entry),
    name: nameOf(entry),
    room_id: entry.kind === 'devices' ? entry.record.roomId : '',
    cameras: entry.kind === 'rooms' ? entry.devices.length : 0,
    deleted_at,
    expires_at,
    deleted_by,
  }
}

function nameOf(entry: StoredTrash): string {
  switch (entry.kind) {
    case 'rooms':
      return entry.record.topic
    case 'devices':
      return entry.record.userName
    case 'credentials':
      return entry.record.label
    case 'nodes':
    case 'wall_views':
      return entry.record.name
  }
}
