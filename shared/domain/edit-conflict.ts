import { z } from 'zod'
import { eventActor } from './event-actor.ts'

/** Refusal of an edit: others have changed the same fields of the record since the version that the caller saw. */
export const editConflict = z.strictObject({
  /** Version of the record now: a repeated edit that names it replaces the values below. */
  version: z.string(),
  fields: z.array(
    z.strictObject({
      /** Name of the field in the input of the procedure. */
      field: z.string(),
      /** Value now, in the form of the input; left out: a secret. */
      current: z.unknown().optional(),
      /** Last known change of it; null: unknown. */
      changed: z.strictObject({ by: eventActor, at: z.number() }).nullable(),
    }),
  ),
})
export type EditConflict = z.output<typeof editConflict>
