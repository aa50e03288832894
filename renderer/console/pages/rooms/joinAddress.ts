import { roomPagePath } from '../../../../shared/media/room-page.ts'

/** Hosts of a listener that accepts connections at every address of its machine. */
const everywhere: ReadonlySet<string> = new Set(['0.0.0.0', '[::]'])

/**
 * Returns a join link with the host name of this console: at another host name, browsers would show a second
 * certificate warning.
 * @param link join link of the site
 * @param here address of the console's page
 * @param listeners URLs of the console's and the node's port; empty: not listening
 * @returns `link` unchanged if the console is behind a proxy, or the node does not listen at this host name
 */
export function joinAddress(
  link: string,
  here: Pick<URL, 'hostname' | 'port' | 'protocol'>,
  listeners: { console: string; node: string },
): string {
  if (!URL.canParse(listeners.console) || !URL.canParse(listeners.node)) return link
  const node = new URL(listeners.node)
  // A proxy forwards only the console.
  const isDirect = portOf(new URL(listeners.console)) === portOf(here)
  if (!isDirect || (!everywhere.has(node.hostname) && node.hostname !== here.hostname)) return link
  node.hostname = here.hostname
  const { search, hash } = new URL(link)
  return `${node.origin}${roomPagePath}${search}${hash}`
}

function portOf({ port, protocol }: Pick<URL, 'port' | 'protocol'>): string {
  return port !== '' ? port : protocol === 'https:' ? '443' : '80'
}
