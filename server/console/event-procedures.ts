import { EventMarks } from '../event-log/event-marks.ts'
import type { SharedEventLog } from '../event-log/event-log.ts'
import type { PendingEvents } from '../event-log/pending-events.ts'
import type { ProcedureHandlers, ProceduresOf } from './handlers.ts'
import type { RequestJournal } from '../observe/request-journal.ts'

/** Timeout of the verification of the whole log, in milliseconds. */
const verifyMs = 60_000

/**
 * Procedures on the event log and the journal of requests. A caller always finds the events of its earlier calls, even
 * while older events are still being logged after a start.
 */
export function eventHandlers(
  log: SharedEventLog,
  pending: Pick<PendingEvents, 'caughtUp'>,
  journal: RequestJournal,
): ProcedureHandlers<ProceduresOf<'events' | 'activity'>> {
  const marks = new EventMarks(log)
  return {
    'events.list': async (query) => {
      await pending.caughtUp()
      return { ...(await log.query(query)), lost: log.status().lost }
    },
    'events.marks': async ({ span }) => {
      await pending.caughtUp()
      return await marks.view(span)
    },
    'events.verify': () => log.verify(AbortSignal.timeout(verifyMs)),
    'activity.list': (query) => journal.list(query),
    'activity.clear': () => {
      journal.clear()
      return {}
    },
    'activity.export': (filter) => ({ text: journal.export(filter) }),
  }
}
