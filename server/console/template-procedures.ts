import { randomBytes } from 'node:crypto'
import type { EventParams } from '../../shared/domain/event-values.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { type PlannedChange, recordsPut } from '../store/change-cause.ts'
import { versionOf } from '../store/edits/record-version.ts'
import type { StoredRoomTemplate } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { ProcedureHandlers, ProceduresOf } from './handlers.ts'
import type { RoomTemplate } from '../../shared/domain/room-templates.ts'

/** Lock held by every change of the templates, because names are unique. */
const lock = 'room_templates'

export function templateHandlers(store: Store): ProcedureHandlers<ProceduresOf<'templates'>> {
  return {
    'templates.list': () => {
      const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })
      return [...store.all('room_templates').values()]
        .map(view)
        .sort((one, other) => collator.compare(one.name, other.name))
    },
    'templates.save': {
      facts: nameOfSaved,
      run: async (wanted) => {
        const saved = await store.transact([lock], (transaction) => {
          const given = 'id' in wanted ? wanted.id : undefined
          const templates = store.all('room_templates')
          const before = given === undefined ? undefined : templates.get(given)
          if (given !== undefined && before === undefined) throw noTemplate()
          const name = wanted.name?.trim() ?? before?.name
          const settings = wanted.settings ?? before?.settings
          if (settings === undefined || name === undefined) throw noTemplate()
          for (const { id, name: other } of templates.values())
            if (id !== given && other.localeCompare(name, 'en', { sensitivity: 'base' }) === 0)
              throw new RefusalError(refusal('templateExists'), { fields: ['name'] })
          const id = given ?? randomBytes(9).toString('base64url')
          const after: StoredRoomTemplate = { id, name, settings, changed_at: Date.now() }
          transaction.put('room_templates', id, after)
          return after
        })
        return view(saved)
      },
    },
    'templates.remove': async ({ id }) => {
      await store.transact([lock], (transaction) => {
        if (store.get('room_templates', id) === undefined) throw noTemplate()
        transaction.delete('room_templates', id)
      })
      return {}
    },
  }
}

/** Returns the name of the template stored by a transaction. */
function nameOfSaved(_: unknown, planned: PlannedChange | undefined): EventParams {
  const [saved] = planned === undefined ? [] : recordsPut(planned, 'room_templates')
  return saved === undefined ? {} : { name: saved.name }
}

const view = (template: StoredRoomTemplate): RoomTemplate => ({
  ...template,
  version: versionOf('template', template),
})

const noTemplate = (): RefusalError => new RefusalError(refusal('templateNotFound'))
