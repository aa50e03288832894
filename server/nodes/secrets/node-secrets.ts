import { type NodeInput, type NodeSecretName, nodeSecretNames } from '../../../shared/node.ts'
import type { StoredNode } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { joinKeyOf, newJoinKey, newNodeSecrets } from './token-key.ts'
import { janusSecretsAfter, janusSecretsOf } from './janus-access.ts'

type Secrets = Pick<NodeInput, 'name' | 'kind' | 'ws_url' | 'admin_url' | NodeSecretName>

/**
 * Returns a function that determines the sealed secrets of a node that is added or changed. All nodes of one
 * transaction must use the same function, so that new embedded nodes share a key.
 * @throws ApiError 'internal' if the previous secrets cannot be unsealed
 */
export function nodeSecretsAfter(
  store: Pick<Store, 'seal' | 'unseal' | 'all'>,
): (input: Secrets, before: StoredNode | undefined) => string {
  let joinKey: string | undefined
  return (input, before) => {
    const same = before?.kind === input.kind ? before : undefined
    if (input.kind === 'janus') return janusSecretsAfter(input, same, store)
    if (same !== undefined) return same.secrets_sealed
    if (input.kind !== 'embedded') return ''
    joinKey ??= joinKeyOf(store) ?? newJoinKey()
    return newNodeSecrets(input, store, joinKey)
  }
}

/** Cache by record, which is immutable: views are created often, and unsealing is slow. */
const named = new WeakMap<StoredNode, NodeSecretName[]>()

/**
 * Returns the names of the secrets that the operator set for a node. Returns an empty list if the secrets cannot be
 * unsealed; the node's driver reports that failure.
 */
export function secretNamesOf(node: StoredNode, store: Pick<Store, 'unseal'>): NodeSecretName[] {
  const known = named.get(node)
  if (known !== undefined) return known
  const names = node.kind === 'janus' ? readNames(node, store) : []
  named.set(node, names)
  return names
}

function readNames(node: StoredNode, store: Pick<Store, 'unseal'>): NodeSecretName[] {
  try {
    const secrets = janusSecretsOf(node, store)
    return nodeSecretNames.filter((name) => secrets[name] !== '')
  } catch {
    // Sealed with another key: the secrets must be set again.
    return []
  }
}
