import type { RequestJournal } from '../observe/request-journal.ts'
import type { Handlers, ProceduresOf } from './handlers.ts'

/** Procedures on the request journal. */
export function activityHandlers(journal: RequestJournal): Handlers<ProceduresOf<'activity'>> {
  return {
    'activity.list': (query) => journal.list(query),
    'activity.clear': () => {
      journal.clear()
      return {}
    },
    'activity.export': (filter) => ({ text: journal.export(filter) }),
  }
}
