import { loopback } from '../../../../shared/bind-address.ts'

/**
 * Where the page finds the console after it moved.
 * @param url where it listens now, as this machine sees it
 * @param host the bind address
 * @param here the page's own address: its host name is kept where it still leads there, and with it the session
 */
export function consoleAddress(url: string, host: string, here: { hostname: string; hash: string }): string {
  const target = new URL(url)
  const everywhere = host === '0.0.0.0' || host === '::'
  if (everywhere || (loopback.test(host) && loopback.test(here.hostname))) target.hostname = here.hostname
  target.hash = here.hash
  return target.href
}
