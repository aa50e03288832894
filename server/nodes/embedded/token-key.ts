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

/** The sealed secrets of a new node: an embedded one gets the key of its join links, others have none. */
export function newNodeSecrets(kind: NodeKind, store: Pick<Store, 'seal'>): string {
  return kind === 'embedded' ? store.seal(JSON.stringify({ token_key: randomBytes(32).toString('base64') })) : ''
}

/** The key of an embedded node's join links, base64. @throws ApiError 'internal' when it cannot be unsealed */
export function tokenKeyOf(node: StoredNode, store: Pick<Store, 'unseal'>): string {
  return secretsSchema.parse(JSON.parse(store.unseal(node.secrets_sealed))).token_key
}
