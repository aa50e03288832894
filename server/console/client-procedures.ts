import type { ClientWatchView } from '../../shared/console/clients.ts'
import { reportKey, reportKeyPurpose, signPage } from '../lab/report-page.ts'
import type { ClientWatches } from '../lab/watch/client-watches.ts'
import { clientReport } from '../lab/watch/report.ts'
import type { Store } from '../store/store.ts'
import type { ProcedureHandlers, ProceduresOf } from './handlers.ts'

/** Procedures of watched API clients. @param version version of the product, for reports */
export function clientHandlers(
  watches: ClientWatches,
  store: Pick<Store, 'keyFor'>,
  version: string,
): ProcedureHandlers<ProceduresOf<'clients'>> {
  const key = reportKey(store.keyFor(reportKeyPurpose))
  const viewOf = (accessKey: string): ClientWatchView => ({ ...watches.view(accessKey), report_key: key.name })
  return {
    'clients.watched': () => watches.list(),
    'clients.checks': ({ access_key }) => viewOf(access_key),
    'clients.watch': ({ access_key, running, hours }) => {
      if (running) watches.begin(access_key, hours * 3_600_000)
      else watches.end(access_key)
      return viewOf(access_key)
    },
    'clients.report': ({ access_key, language }) => {
      const page = clientReport(viewOf(access_key), { language, version, at: Date.now() })
      return { text: signPage(page, key) }
    },
  }
}
