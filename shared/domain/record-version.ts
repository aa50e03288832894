import { z } from 'zod'

/** Part of the input of every edit. */
export const seenVersion = {
  /** Version of the record that the caller saw, as a read returns it: fields that others changed since are not overwritten. Left out: they are. */
  expected_version: z.string().max(4_096).optional(),
}

/** Version of a record, as every view of one has it: opaque, and the same until a field that edits change differs. */
export const recordVersion = z.string()
