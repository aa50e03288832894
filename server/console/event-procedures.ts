import { EventMarks } from '../event-log/event-marks.ts'
import type { SharedEventLog } from '../event-log/event-log.ts'
import type { Handlers, ProceduresOf } from './handlers.ts'

/** Time for the verification of the whole log, in milliseconds. */
const verifyMs = 60_000

/** Procedures on the event log. */
export function eventHandlers(log: SharedEventLog): Handlers<ProceduresOf<'events'>> {
  const marks = new EventMarks(log)
  return {
    'events.list': async (query) => ({ ...(await log.query(query)), lost: log.status().lost }),
    'events.marks': ({ span }) => marks.view(span),
    'events.verify': () => log.verify(AbortSignal.timeout(verifyMs)),
  }
}
