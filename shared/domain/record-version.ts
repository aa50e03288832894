import { z } from 'zod'

/** Part of the input of every edit. */
export const seenVersion = {
  /**
   * Version of the record that the caller read: fields changed by others since then are not overwritten. Undefined:
   * they are.
   */
  expected_version: z.string().max(4_096).optional(),
}

/**
 * Version of a record, contained in every view of it. Opaque; it changes when a field that edits can change differs.
 */
export const recordVersion = z.string()
