import { z } from 'zod'
import { eventActor } from './event-actor.ts'

/** Refusal of an edit: others changed the same fields of the record since the version that the caller read. */
export const editConflict = z.strictObject({
  /** Current version of the record: repeating the edit with it overwrites the values below. */
  version: z.string(),
  fields: z.array(
    z.strictObject({
      /** Name of the field in the input of the procedure. */
      field: z.string(),
      /** Current value, in the form of the input; undefined for a secret. */
      current: z.unknown().optional(),
      /** Last known change of the field; null: unknown. */
      changed: z.strictObject({ by: eventActor, at: z.number() }).nullable(),
    }),
  ),
})
export type EditConflict = z.output<typeof editConflict>
