import { randomBytes } from 'node:crypto'
import { ConsoleError } from '../../shared/console/procedure.ts'
import type { WallArrangement } from '../../shared/console/wall-layout.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { StoredWallView } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { EventHub } from './event-hub.ts'
import type { Trash } from '../store/trash/trash.ts'
import type { Handlers, ProceduresOf } from './handlers.ts'
import { deletionBy, undoOf } from './trash-procedures.ts'

/** The saved views of the wall, by name. */
export function wallViews(store: Pick<Store, 'all'>): StoredWallView[] {
  const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })
  return [...store.all('wall_views').values()].sort((one, other) => collator.compare(one.name, other.name))
}

/** Procedures on the saved views of the wall. */
export function wallHandlers(store: Store, hub: Pick<EventHub, 'emit'>, trash: Trash): Handlers<ProceduresOf<'wall'>> {
  return {
    'wall.list': () => wallViews(store),
    'wall.save': ({ id: given, name, items, arrangement, revision }) =>
      store.transact(['wall'], (transaction) => {
        const views = store.all('wall_views')
        const before = given === undefined ? undefined : views.get(given)
        if (given !== undefined && before === undefined) throw noView()
        if (before !== undefined && revision !== undefined && revision !== before.revision) {
          throw new ConsoleError(refusal('wallViewChanged'))
        }
        const same = (other: string): boolean => other.localeCompare(name.trim(), 'en', { sensitivity: 'base' }) === 0
        for (const view of views.values()) {
          if (view.id !== given && same(view.name)) {
            throw new ConsoleError(refusal('wallViewExists'), { fields: ['name'] })
          }
        }
        const id = given ?? randomBytes(9).toString('base64url')
        const saved: StoredWallView = {
          id,
          name: name.trim(),
          items,
          ...arranged(arrangement ?? before?.arrangement),
          revision: (before?.revision ?? 0) + 1,
          changed_at: Date.now(),
        }
        transaction.put('wall_views', id, saved)
        return saved
      }),
    'wall.bring': (brought) => {
      const { kind, id } = brought.item
      if (store.get(kind === 'camera' ? 'devices' : 'rooms', id) === undefined) {
        throw new ConsoleError(refusal(kind === 'camera' ? 'deviceNotFound' : 'roomNotFound'))
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
        trash.bury(transaction, { kind: 'wall_views', record }, deletion)
      })
      return { undo: undoOf(trash, deletion) }
    },
  }
}

const noView = (): ConsoleError => new ConsoleError(refusal('wallViewNotFound'))

function arranged(arrangement: WallArrangement | undefined): Pick<StoredWallView, 'arrangement'> {
  return arrangement === undefined ? {} : { arrangement }
}
