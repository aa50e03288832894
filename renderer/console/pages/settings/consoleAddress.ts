import { loopback } from '../../../../shared/bind-address.ts'

/**
 * Address of the console after it moved.
 * @param url its new address, as seen by this machine
 * @param host the bind address
 * @param here the page's own address: its host name, and so the session, stays if it still works
 */
export function consoleAddress(url: string, host: string, here: { hostname: string; hash: string }): string {
  const target = new URL(url)
  const everywhere = host === '0.0.0.0' || host === '::'
  if (everywhere || (loopback.test(host) && loopback.test(here.hostname))) target.hostname = here.hostname
  target.hash = here.hash
  return target.href
}
