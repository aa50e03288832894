import { z } from 'zod'
import { type Procedure, procedure } from './procedure.ts'
import type { RecordRef } from './record-fields.ts'

/** Part of the input of every edit. */
export const seenVersion = {
  /** Version of the record that the caller saw, as a read returns it: fields that others changed since are not overwritten. Left out: they are. */
  expected_version: z.string().max(4_096).optional(),
}

/** Version of a record, as every view of one has it: opaque, and the same until a field that edits change differs. */
export const recordVersion = z.string()

/** A procedure that edits a record: what is left out of its input stays. */
interface EditProcedureOf<I extends z.ZodType, O extends z.ZodType> extends Procedure<I, O> {
  /** The record that a call edits; undefined: it makes a new one. */
  edits: (input: z.output<I>) => RecordRef | undefined
  /** Without a version the input is the whole record: fields that it leaves out get their defaults. */
  whole: boolean
}

/** Declares a procedure that edits a record. The dispatch merges each of its calls, or refuses it. @param whole see EditProcedureOf */
export function edit<I extends z.ZodType<{ expected_version?: string | undefined }>, O extends z.ZodType>(
  summary: string,
  input: I,
  output: O,
  edits: (input: z.output<I>) => RecordRef | undefined,
  whole = false,
): EditProcedureOf<I, O> {
  return { ...procedure(summary, input, output), edits, whole }
}
