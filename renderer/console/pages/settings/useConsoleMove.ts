import { useConsole } from '../../composables/useConsole.ts'
import { listenerOf, useOverview } from '../../composables/useOverview.ts'
import { consoleAddress } from './consoleAddress.ts'
import { forgetUnsaved } from './useUnsaved.ts'

/**
 * Takes the page to where the console listens now, after a change that moved it: another port, or another protocol. The desktop's page has nowhere to go.
 * @returns to be called with the bind address once the change is made
 */
export function useConsoleMove(): (host: string) => Promise<void> {
  const client = useConsole()
  const { value: overview, refresh } = useOverview()
  return async (host) => {
    await refresh()
    if (client.kind !== 'websocket') return
    const url = overview.value && listenerOf(overview.value, 'console')?.url
    if (!url) return
    forgetUnsaved()
    location.assign(consoleAddress(url, host, location))
  }
}
