import { type NodeInput, type NodeSecretName, nodeSecretNames } from '../../../shared/node.ts'
import type { StoredNode } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { joinKeyOf, newJoinKey, newNodeSecrets } from './token-key.ts'
import { janusSecretsAfter, janusSecretsOf } from './janus-access.ts'

type Secrets = Pick<NodeInput, 'name' | 'kind' | 'ws_url' | 'admin_url' | NodeSecretName>

/**
 * Says which sealed secrets a node has that is added or changed. All nodes of one transaction ask the same function: the new embedded ones share a key.
 * @throws ApiError 'internal' when those of before cannot be unsealed
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

/** Cached by record, which never changes in place: views are made often, and opening a secret is slow. */
const named = new WeakMap<StoredNode, NodeSecretName[]>()

/** Secrets of the operator that a node has; none where they cannot be unsealed, which its driver says. */
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
    // Sealed with another key: they have to be set again.
    return []
  }
}
