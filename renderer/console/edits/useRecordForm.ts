import type { RecordKind } from '../../../shared/domain/record-fields.ts'
import { plain } from '../../kit/transport/transport.ts'
import { type FormOptions, useForm } from '../composables/useForm.ts'
import { type Changes, type EditedFields, type SeenRecord, sendChanges } from './recordChanges.ts'

/** A form that edits a record, or makes one. */
interface RecordFormOptions<V extends object, I, F extends object, R> extends Omit<FormOptions<V, I, R>, 'submit'> {
  kind: RecordKind
  /** The record as it is shown now; null: the form makes a new one. */
  record: () => { version: string } | null | undefined
  /** Fields of an edit. */
  fields: (input: I, values: V) => F
  /** Makes a record; left out: the form only edits. */
  create?: (input: I, values: V) => Promise<R>
  /** Sends the changed fields. */
  save: (changes: Changes<F>) => Promise<R>
}

/** Form that holds what the operator saw when it was opened: it sends the changed fields only, and shows a conflict with changes of others. */
export function useRecordForm<V extends object, I, F extends object, R>(options: RecordFormOptions<V, I, F, R>) {
  const { kind, create, save } = options
  let seen = seenNow()
  const form = useForm<V, I, R>({
    ...options,
    async submit(input, values) {
      if (create !== undefined && !seen.exists) return await create(input, values)
      const record: SeenRecord = { kind, version: seen.version, fields: fieldsOf(seen.values) }
      return await sendChanges(record, options.fields(input, values), save)
    },
  })

  function seenNow() {
    const record = options.record()
    return { exists: record !== null && record !== undefined, version: record?.version, values: options.initial() }
  }

  function fieldsOf(values: V): EditedFields {
    return plain(options.fields(options.input(values), values)) as EditedFields
  }

  /** Takes the record as it is shown now for the one that the operator saw, and keeps what is typed. */
  function look(): void {
    seen = seenNow()
  }

  /** Discards the input and notes the record as it is now. */
  function reset(): void {
    look()
    form.reset()
  }

  return { ...form, look, reset }
}
