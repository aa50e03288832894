import type { StoredNode } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { eventPath, type JanusFacts, janusFacts } from '../../secrets/janus-access.ts'
import { type EventTarget, type NodeFile, nodeFiles } from './node-files.ts'
import { surroundingsOf } from './surroundings.ts'

/**
 * The configuration files of a Janus node of this site, as its record and the way to it are now.
 * @param eventUrl where the event port listens; empty while it does not; undefined: any free port, which only the controller that picks it knows. A wildcard in it becomes the address that this machine calls the node from.
 * @throws ApiError 'internal' when its secrets cannot be unsealed
 */
export async function filesOfNode(
  node: StoredNode,
  store: Pick<Store, 'unseal'>,
  eventUrl: string | undefined,
): Promise<NodeFile[]> {
  const access = janusFacts(node, store)
  const url = URL.parse(access.adminUrl === '' ? access.wsUrl : access.adminUrl)
  const { adminAddress, controllerAddress } = await surroundingsOf(url?.hostname.replace(/^\[|\]$/g, '') ?? '')
  return nodeFiles({
    node: access,
    events: eventUrl === undefined ? 'unknown' : eventsOf(access, eventUrl, controllerAddress),
    adminAddress,
    controllers: controllerAddress === '' ? [] : [controllerAddress],
  })
}

function eventsOf({ name, secrets }: JanusFacts, eventUrl: string, controllerAddress: string): EventTarget | undefined {
  const url = URL.parse(eventUrl)
  if (url === null) return undefined
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  const wildcard = url.hostname === '0.0.0.0' || url.hostname === '[::]'
  if (wildcard && controllerAddress !== '')
    url.hostname = controllerAddress.includes(':') ? `[${controllerAddress}]` : controllerAddress
  return { backend: `${url.origin}${eventPath(name)}`, subprotocol: secrets.event_secret }
}
