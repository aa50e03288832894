import { z } from 'zod'

/** Part of the input of every edit. */
export const seenVersion = {
  /**
   * Version of the record that the caller read. Fields that others have changed since this version are not overwritten.
   * undefined: all fields are overwritten.
   */
  expected_version: z.string().max(4_096).optional(),
}

/**
 * Version of a record, contained in every view of the record. Opaque; it changes with every change of an editable
 * field.
 */
export const recordVersion = z.string()
