import { z } from 'zod'
import { tagsSchema } from '../tags.ts'
import { bulkOutcome } from '../domain/outcome.ts'

const tags = tagsSchema.default([])

/**
 * Returns the input schema of tag changes on many records.
 * @param ids name of the field with the keys of the records
 * @param max maximum number of records per call
 */
export function tagChangesOf<K extends string>(ids: K, id: z.ZodType<string, string>, max: number) {
  const change = z.strictObject({ add: tags, remove: tags }).extend(records(ids, id, max))
  // The inverse of a call has one entry for each distinct change, so several entries are allowed.
  return z.strictObject({ changes: z.array(change).min(1).max(max) })
}

/** Returns the output schema of tag changes on many records; `undo` contains the inverse changes. */
export function bulkTagged<K extends string>(ids: K) {
  const change = z.strictObject({ add: z.array(z.string()), remove: z.array(z.string()) })
  return bulkOutcome.extend({ undo: z.array(change.extend(records(ids, z.string()))) })
}

function records<K extends string>(ids: K, id: z.ZodType<string, string>, max?: number) {
  const list = z.array(id)
  // TypeScript widens a computed key.
  return { [ids]: max === undefined ? list : list.min(1).max(max) } as Record<K, typeof list>
}
