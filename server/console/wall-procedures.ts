import { randomBytes } from 'node:crypto'
import { refusalOfInput } from '../../shared/domain/input-problems.ts'
import { RefusalError, problemAt } from '../../shared/domain/outcome.ts'
import type { WallView } from '../../shared/console/wall.ts'
import type { WallArrangement } from '../../shared/domain/wall-layout.ts'
import { complaint } from '../../shared/refusals/complaints.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { versionOf } from '../store/record-edits.ts'
import type { StoredWallView } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { EventHub } from './event-hub.ts'
import type { Trash } from '../store/trash.ts'
import type { ProcedureHandlers, ProceduresOf } from './handlers.ts'
import { deletionBy, undoOf } from './trash-procedures.ts'

/** Returns the saved views of the wall, sorted by name. */
export function wallViews(store: Pick<Store, 'all'>): WallView[] {
  const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })
  return [...store.all('wall_views').values()].map(viewOf).sort((one, other) => collator.compare(one.name, other.name))
}

export function wallHandlers(
  store: Store,
  hub: Pick<EventHub, 'emit'>,
  trash: Trash,
): ProcedureHandlers<ProceduresOf<'wall'>> {
  return {
    'wall.list': () => wallViews(store),
    'wall.save': async ({ id: given, arrangement, revision, ...input }) => {
      const saved = await store.transact(['wall'], (transaction) => {
        const views = store.all('wall_views')
        const before = given === undefined ? undefined : views.get(given)
        if (given !== undefined && before === undefined) throw noView()
        if (before !== undefined && revision !== undefined && revision !== before.revision) {
          throw new RefusalError(refusal('wallViewChanged'))
        }
        const { name = before?.name, items = before?.items } = input
        if (name === undefined || items === undefined) throw incomplete(name === undefined ? 'name' : 'items')
        const same = (other: string): boolean => other.localeCompare(name.trim(), 'en', { sensitivity: 'base' }) === 0
        for (const view of views.values()) {
          if (view.id !== given && same(view.name)) {
            throw new RefusalError(refusal('wallViewExists'), { fields: ['name'] })
          }
        }
        const id = given ?? randomBytes(9).toString('base64url')
        const after: StoredWallView = {
          id,
          name: name.trim(),
          items,
          ...arranged(arrangement ?? before?.arrangement),
          revision: (before?.revision ?? 0) + 1,
          changed_at: Date.now(),
        }
        transaction.put('wall_views', id, after)
        return after
      })
      return viewOf(saved)
    },
    'wall.bring': (brought) => {
      const { kind, id } = brought.item
      if (store.get(kind === 'camera' ? 'devices' : 'rooms', id) === undefined) {
        throw new RefusalError(refusal(kind === 'camera' ? 'deviceNotFound' : 'roomNotFound'))
      }
      if (brought.view !== undefined && !store.all('wall_views').has(brought.view)) throw noView()
      hub.emit('wall.brought', brought)
      return {}
    },
    'wall.remove': async ({ id }, origin) => {
      const deletion = deletionBy(origin)
      await store.transact(['wall'], (transaction) => {
        const record = store.get('wall_views', id)
        if (record === undefined) throw noView()
        transaction.delete('wall_views', id)
        trash.moveToTrash(transaction, { kind: 'wall_views', record }, deletion)
      })
      return { undo: undoOf(trash, deletion) }
    },
  }
}

function viewOf(view: StoredWallView): WallView {
  return { ...view, version: versionOf('wall', view) }
}

/** Returns the error for a new view without one of the required fields. */
function incomplete(field: string): RefusalError {
  const problems = [problemAt(field, complaint('missing'))]
  return new RefusalError(refusalOfInput(problems), { problems })
}

const noView = (): RefusalError => new RefusalError(refusal('wallViewNotFound'))

function arranged(arrangement: WallArrangement | undefined): Pick<StoredWallView, 'arrangement'> {
  return arrangement === undefined ? {} : { arrangement }
}
