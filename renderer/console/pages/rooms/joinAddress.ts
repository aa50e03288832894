import { roomPagePath } from '../../../../shared/media/room-page.ts'

/** Hosts of a listener that takes connections to every address of its machine. */
const everywhere: ReadonlySet<string> = new Set(['0.0.0.0', '[::]'])

/**
 * Address of the room page at the host name of this console: another one would show a second certificate warning.
 * @param link join link of the site
 * @param here address of the console's page
 * @param listeners URLs of the console's and the node's port; empty: not listening
 * @returns the link itself where the console is not reached directly, or the node's port not at this name
 */
export function joinAddress(
  link: string,
  here: Pick<URL, 'hostname' | 'port' | 'protocol'>,
  listeners: { console: string; node: string },
): string {
  if (!URL.canParse(listeners.console) || !URL.canParse(listeners.node)) return link
  const node = new URL(listeners.node)
  // A proxy leads to the console only.
  const isDirect = portOf(new URL(listeners.console)) === portOf(here)
  if (!isDirect || (!everywhere.has(node.hostname) && node.hostname !== here.hostname)) return link
  node.hostname = here.hostname
  const { search, hash } = new URL(link)
  return `${node.origin}${roomPagePath}${search}${hash}`
}

function portOf({ port, protocol }: Pick<URL, 'port' | 'protocol'>): string {
  return port !== '' ? port : protocol === 'https:' ? '443' : '80'
}
