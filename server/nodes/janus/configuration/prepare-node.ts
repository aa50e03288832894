import type { StoredNode } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { hasAllSecrets, withMadeSecrets } from '../node-access.ts'

/**
 * Gives a Janus node the secrets that its configuration files need and that the operator left out. Undefined: there is no Janus node of this name.
 * @throws ApiError storage; 'internal' when its secrets cannot be unsealed
 */
export async function prepareNode(
  name: string,
  store: Pick<Store, 'get' | 'transact' | 'seal' | 'unseal'>,
): Promise<StoredNode | undefined> {
  return await store.transact([`nodes/${name}`], (transaction) => {
    const node = store.get('nodes', name)
    if (node?.kind !== 'janus') return undefined
    if (hasAllSecrets(node, store)) return node
    const prepared = withMadeSecrets(node, store)
    transaction.put('nodes', name, prepared)
    return prepared
  })
}
