import { z } from 'zod'
import { tagsSchema } from '../tags.ts'
import { bulkOutcome } from '../domain/outcome.ts'

const tags = tagsSchema.default([])

/** Input of a change of tags on many records. @param ids name of the field that names the records @param most records of one call */
export function tagChangesOf<K extends string>(ids: K, id: z.ZodType<string, string>, most: number) {
  const change = z.strictObject({ add: tags, remove: tags }).extend(records(ids, id, most))
  // An undo has one for each different change that was made.
  return z.strictObject({ changes: z.array(change).min(1).max(most) })
}

/** Output of such a change; `undo` holds the opposite changes. */
export function bulkTagged<K extends string>(ids: K) {
  const change = z.strictObject({ add: z.array(z.string()), remove: z.array(z.string()) })
  return bulkOutcome.extend({ undo: z.array(change.extend(records(ids, z.string()))) })
}

function records<K extends string>(ids: K, id: z.ZodType<string, string>, most?: number) {
  const list = z.array(id)
  // TypeScript widens a computed key.
  return { [ids]: most === undefined ? list : list.min(1).max(most) } as Record<K, typeof list>
}
