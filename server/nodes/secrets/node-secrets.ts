import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { type NodeInput, type NodeSecretName, nodeSecretNames } from '../../../shared/node.ts'
import type { StoredNode } from '../../store/records.ts'
import { nodePlace } from '../../store/sealed-places.ts'
import type { Store } from '../../store/store.ts'
import { derivedSecret, janusFacts, janusSecretsAfter, janusSecretsOf } from './janus-access.ts'

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

/** Secrets of an embedded node. */
const embeddedSecretsSchema = z.strictObject({
  /** Key that signs join links; base64 of 32 bytes. */
  token_key: z.string().min(43),
})

/**
 * Returns the sealed secrets of a new node. The embedded nodes of a site share the key of join links, so that a link is
 * valid on the node of its room. Other nodes have no such secrets.
 * @throws ApiError 'internal' if the key of the other nodes cannot be unsealed
 */
export function newNodeSecrets(
  node: Pick<StoredNode, 'name' | 'kind' | 'ws_url' | 'admin_url'>,
  store: Pick<Store, 'seal' | 'unseal' | 'all'>,
  joinKey = joinKeyOf(store),
): string {
  if (node.kind !== 'embedded') return ''
  const token_key = joinKey ?? newJoinKey()
  return store.seal(JSON.stringify({ token_key }), nodePlace(node))
}

/** Generates a key of join links: base64 of 32 bytes. */
function newJoinKey(): string {
  return randomBytes(32).toString('base64')
}

/**
 * Returns the key of the site's join links, base64; undefined if the site has no node with such a key.
 * @throws ApiError 'internal' if it cannot be unsealed
 */
export function joinKeyOf(store: Pick<Store, 'unseal' | 'all'>): string | undefined {
  const nodes = [...store.all('nodes').values()]
  const node = nodes.find(({ kind }) => kind === 'embedded') ?? nodes.find(keepsKey)
  return node === undefined ? undefined : tokenKeyOf(node, store)
}

/** Returns whether the node is a Janus node with secrets; nodes added by an older version have none. */
function keepsKey({ kind, secrets_sealed }: StoredNode): boolean {
  return kind === 'janus' && secrets_sealed !== ''
}

/**
 * Returns the key of a node's join links, base64. The key of a Janus node is derived from the node's secrets, and used
 * by a site without embedded nodes.
 * @throws ApiError 'internal' if it cannot be unsealed
 */
export function tokenKeyOf(node: StoredNode, store: Pick<Store, 'unseal'>): string {
  if (node.kind === 'janus') {
    const { secrets } = janusFacts(node, store)
    return createHash('sha256')
      .update(derivedSecret(secrets, 'join links', ''))
      .digest('base64')
  }
  return embeddedSecretsSchema.parse(JSON.parse(store.unseal(node.secrets_sealed, nodePlace(node)))).token_key
}
