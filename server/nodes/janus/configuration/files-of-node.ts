import type { StoredNode } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { janusAccess } from '../node-access.ts'
import { type NodeFile, nodeFiles } from './node-files.ts'
import { surroundingsOf } from './surroundings.ts'

/**
 * The configuration files of a Janus node of this site, as its record and the way to it are now.
 * @throws ApiError 'internal' when its secrets cannot be unsealed
 */
export async function filesOfNode(node: StoredNode, store: Pick<Store, 'unseal'>): Promise<NodeFile[]> {
  const access = janusAccess(node, store)
  const url = URL.parse(access.adminUrl === '' ? access.wsUrl : access.adminUrl)
  const { adminAddress, controllerAddress } = await surroundingsOf(url?.hostname.replace(/^\[|\]$/g, '') ?? '')
  return nodeFiles({
    node: access,
    adminAddress,
    controllers: controllerAddress === '' ? [] : [controllerAddress],
  })
}
