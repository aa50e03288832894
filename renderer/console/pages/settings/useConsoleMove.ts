import { loopback } from '../../../../shared/bind-address.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { listenerOf, useNodes, useOverview } from '../../composables/site.ts'
import { useText } from '../../i18n/text.ts'
import { forgetUnsaved } from './useUnsaved.ts'

/**
 * Opens the console's new address after a change of port or protocol. The desktop's page stays, as does a page at https
 * after TLS was switched off.
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
    // A port that used TLS continues to serve https to existing pages.
    const { protocol, port } = new URL(url)
    if (location.protocol === 'https:' && protocol === 'http:' && port === location.port) return
    forgetUnsaved()
    location.assign(consoleAddress(url, host, location))
  }
}

/**
 * Returns the address of the console after it has moved.
 * @param url its new address, from this machine
 * @param host the bind address
 * @param here address of the page; its host name, and so the session, is kept if it still works
 */
export function consoleAddress(url: string, host: string, here: { hostname: string; hash: string }): string {
  const target = new URL(url)
  const everywhere = host === '0.0.0.0' || host === '::'
  if (everywhere || (loopback.test(host) && loopback.test(here.hostname))) target.hostname = here.hostname
  target.hash = here.hash
  return target.href
}

/** Returns the users and cameras that a restart of the embedded nodes interrupts, one line each. */
export function useInterrupted(): () => string[] {
  const { t } = useText()
  const { value: nodes } = useNodes()
  return () => {
    const embedded = (nodes.value ?? []).filter(({ config }) => config.kind === 'embedded')
    const cameras = embedded.reduce((sum, { devices }) => sum + devices, 0)
    const people = embedded.reduce((sum, { users }) => sum + users, 0) - cameras
    return [
      ...(people > 0 ? [t('settings.network.people', { n: people })] : []),
      ...(cameras > 0 ? [t('settings.network.cameras', { n: cameras })] : []),
    ]
  }
}
