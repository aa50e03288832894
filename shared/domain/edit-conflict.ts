import { z } from 'zod'
import { eventActor } from './event-actor.ts'

/** Refusal of an edit: since the version that the caller read, others have changed the same fields. */
export const editConflict = z.strictObject({
  /** Current version of the record. Repeating the edit with this version overwrites the values below. */
  version: z.string(),
  fields: z.array(
    z.strictObject({
      /** Name of the field in the input of the procedure. */
      field: z.string(),
      /** Current value, in the form of the input; undefined: a secret. */
      current: z.unknown().optional(),
      /** Last known change of the field; null: unknown. */
      changed: z.strictObject({ by: eventActor, at: z.number() }).nullable(),
    }),
  ),
})
export type EditConflict = z.output<typeof editConflict>
