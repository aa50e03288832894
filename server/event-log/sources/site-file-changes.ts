import { causedBy, type PlannedChange } from '../../store/change-cause.ts'
import { pendingEvent } from '../../store/transactions/job.ts'
import type { Store } from '../../store/store.ts'
import { wallClock } from '../../store/system/time.ts'
import { changedRecords } from '../site-state.ts'

/**
 * Applies a site file. Each changed record causes an event. If the file overwrites stored values, which the console or
 * the file changed, a line is also written to the program's log.
 * @param path path of the file; empty: unknown
 * @throws errors of `apply`
 */
export function recordSiteFile(
  store: Pick<Store, 'unseal'>,
  path: string,
  logger: { info(fields: object, message: string): void },
  apply: () => Promise<void>,
): Promise<void> {
  const about = {
    kind: 'site.changed',
    actor: { type: 'siteFile', name: path, address: '' },
    params: { procedure: 'siteFile' },
  } as const
  const eventsOf = (planned: PlannedChange) =>
    changedRecords(planned, ['credential', 'node', 'licence', 'settings'], store).map((changed) => {
      const { type, id } = changed.subject
      const fields = Object.keys(changed.before).filter((field) => field in changed.after)
      if (fields.length > 0) logger.info({ record: `${type} ${id}`, fields }, 'site file replaced stored values')
      return pendingEvent({ at: wallClock(), ...about, ...changed })
    })
  return causedBy({ eventsOf }, apply)
}
