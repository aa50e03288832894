import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { NodeKind } from '../../../shared/node.ts'
import type { StoredNode } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

/** What an embedded node keeps secret. */
const secretsSchema = z.strictObject({
  /** Signs join links; base64 of 32 bytes. */
  token_key: z.string().min(43),
})

/**
 * The sealed secrets of a new node: the embedded ones of a site share the key of join links, so that a link is good wherever its room is; others have none.
 * @throws ApiError 'internal' when the key of the others cannot be unsealed
 */
export function newNodeSecrets(kind: NodeKind, store: Pick<Store, 'seal' | 'unseal' | 'all'>): string {
  if (kind !== 'embedded') return ''
  const token_key = joinKeyOf(store) ?? randomBytes(32).toString('base64')
  return store.seal(JSON.stringify({ token_key }))
}

/** The key of the site's join links, base64; undefined where it has no embedded node. @throws ApiError 'internal' when it cannot be unsealed */
export function joinKeyOf(store: Pick<Store, 'unseal' | 'all'>): string | undefined {
  for (const node of store.all('nodes').values()) if (node.kind === 'embedded') return tokenKeyOf(node, store)
  return undefined
}

/** The key of an embedded node's join links, base64. @throws ApiError 'internal' when it cannot be unsealed */
export function tokenKeyOf(node: StoredNode, store: Pick<Store, 'unseal'>): string {
  return secretsSchema.parse(JSON.parse(store.unseal(node.secrets_sealed))).token_key
}
