import type { RecordKind } from '../../../shared/domain/record-fields.ts'
import { plain } from '../../kit/transport/transport.ts'
import { type FormOptions, useForm } from '../composables/useForm.ts'
import { type Changes, type EditedFields, type SeenRecord, sendChanges } from './recordChanges.ts'

/** Options of a form that creates or edits a record. */
interface RecordFormOptions<V extends object, I, F extends object, R> extends Omit<FormOptions<V, I, R>, 'submit'> {
  kind: RecordKind
  /** Returns the current record; null: the form creates one. */
  record: () => { version: string } | null | undefined
  /** Returns the fields to send. */
  fields: (input: I, values: V) => F
  /** Creates a record; undefined: the form only edits. */
  create?: (input: I, values: V) => Promise<R>
  save: (changes: Changes<F>) => Promise<R>
}

/**
 * A form that keeps the record as it was when the form opened: it sends only changed fields, and shows conflicts with
 * changes of others.
 */
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

  /** Takes the current record as the basis of the edit, and keeps the input. */
  function look(): void {
    seen = seenNow()
  }

  /** Discards the input and takes the current record as the basis. */
  function reset(): void {
    look()
    form.reset()
  }

  return { ...form, look, reset }
}
