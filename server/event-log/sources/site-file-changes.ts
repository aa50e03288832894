import type { EventActor, EventSubject } from '../../../shared/console/events.ts'
import type { Store } from '../../store/store.ts'
import { difference } from '../record-difference.ts'
import type { EventSink } from '../event-log.ts'
import { stateOf, subjectOf } from '../site-state.ts'

/** Records that a site file names. */
export interface NamedInSite {
  credentials?: readonly { access_key: string }[] | undefined
  nodes?: readonly { name: string }[] | undefined
  licence?: unknown
  settings?: unknown
}

/** Applies a site file and writes what it changed, one entry for each thing. @param path of the file; empty when it is not known @throws what `apply` throws */
export async function recordSiteFile(
  {
    store,
    sink,
    site,
    path,
  }: { store: Pick<Store, 'get' | 'all' | 'unseal'>; sink: EventSink; site: NamedInSite; path: string },
  apply: () => Promise<void>,
): Promise<void> {
  const named: EventSubject[] = [
    ...(site.credentials ?? []).map(({ access_key }) => subjectOf(store, 'credential', access_key)),
    ...(site.nodes ?? []).map(({ name }) => subjectOf(store, 'node', name)),
    ...(site.licence === undefined ? [] : [subjectOf(store, 'licence', 'site')]),
    ...(site.settings === undefined ? [] : [subjectOf(store, 'settings', 'site')]),
  ]
  const before = named.map((subject) => stateOf(store, subject))
  await apply()
  const actor: EventActor = { type: 'siteFile', name: path, address: '' }
  for (const [index, { type, id }] of named.entries()) {
    const subject = subjectOf(store, type, id)
    const changes = difference(before[index], stateOf(store, subject))
    if (changes !== undefined)
      sink.append({ kind: 'site.changed', actor, subject, params: { procedure: 'siteFile' }, ...changes })
  }
}
