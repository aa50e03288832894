import { licenceSchema } from '../../shared/licence.ts'
import { nodeConfigSchema } from '../../shared/node.ts'
import type { StoredTrash } from './records.ts'
import type { CollectionName } from './store.ts'
import { withSharedParts } from './shared-trash-parts.ts'

const node = nodeConfigSchema.omit({ name: true, kind: true }).parse({})
/** Default of each field that the version which stored a record did not know. */
const defaults: Partial<Record<CollectionName, object>> = {
  licence: licenceSchema.parse({}),
  nodes: { ...node, created_at: 0, draining: false, secrets_sealed: '' },
}

/** A record of an earlier version with every field of this one; the settings are completed where they are read. */
export function completeRecord(collection: CollectionName, value: object): object {
  // The record was written by this program: it has the shape that its collection says.
  if (collection === 'trash') return withSharedParts(value as StoredTrash)
  const fields = defaults[collection]
  return fields === undefined ? value : { ...fields, ...value }
}
