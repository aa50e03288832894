import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { nodePlace } from '../../store/sealed-places.ts'
import type { StoredNode } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { derivedSecret, janusFacts } from './janus-access.ts'

/** Secrets of an embedded node. */
const secretsSchema = z.strictObject({
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
export function newJoinKey(): string {
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
  return secretsSchema.parse(JSON.parse(store.unseal(node.secrets_sealed, nodePlace(node)))).token_key
}
