import { useConsole } from '../../composables/useConsole.ts'
import { listenerOf, useOverview } from '../../composables/useOverview.ts'
import { consoleAddress } from './consoleAddress.ts'
import { forgetUnsaved } from './useUnsaved.ts'

/**
 * Takes the page to the console's new address after a change of port or protocol. The desktop's page stays, and one at https when TLS is switched off.
 * @returns a function to call with the bind address after the change
 */
export function useConsoleMove(): (host: string) => Promise<void> {
  const client = useConsole()
  const { value: overview, refresh } = useOverview()
  return async (host) => {
    await refresh()
    if (client.kind !== 'websocket') return
    const url = overview.value && listenerOf(overview.value, 'console')?.url
    if (!url) return
    // A port that spoke TLS goes on doing so for the pages of before.
    const { protocol, port } = new URL(url)
    if (location.protocol === 'https:' && protocol === 'http:' && port === location.port) return
    forgetUnsaved()
    location.assign(consoleAddress(url, host, location))
  }
}
