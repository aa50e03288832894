import { causedBy, type PlannedChange } from '../../store/change-cause.ts'
import { pendingEvent } from '../../store/pending-event.ts'
import type { Store } from '../../store/store.ts'
import { wallClock } from '../../store/system/time.ts'
import { changedRecords } from '../changed-records.ts'

/** Applies a site file; each record that it changes leaves an event. @param path of the file; empty when it is not known @throws what `apply` throws */
export function recordSiteFile(store: Pick<Store, 'unseal'>, path: string, apply: () => Promise<void>): Promise<void> {
  const about = {
    kind: 'site.changed',
    actor: { type: 'siteFile', name: path, address: '' },
    params: { procedure: 'siteFile' },
  } as const
  const eventsOf = (planned: PlannedChange) =>
    changedRecords(planned, ['credential', 'node', 'licence', 'settings'], store).map((changed) =>
      pendingEvent({ at: wallClock(), ...about, ...changed }),
    )
  return causedBy({ eventsOf }, apply)
}
