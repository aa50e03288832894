import type { EditConflict } from '../../../shared/domain/edit-conflict.ts'
import type { RecordKind } from '../../../shared/domain/record-fields.ts'
import { CallError, plain } from '../../kit/transport/transport.ts'
import { askAboutConflict } from './conflict.ts'
import { mergeParts } from './mergeParts.ts'

/** Fields of an edit, by their names in the input of its procedure. */
export type EditedFields = Readonly<Record<string, unknown>>

/** Changed fields, with the version that the operator saw. */
export type Changes<F> = Partial<F> & { expected_version?: string }

/** Record as the operator saw it when the editing began. */
export interface SeenRecord {
  kind: RecordKind
  /** Undefined: a controller of an earlier version gives none, and merges nothing. */
  version: string | undefined
  fields: EditedFields
}

/**
 * Sends the fields that differ from the seen record. If others changed the same ones, the operator chooses, and what is left is sent again.
 * @throws CallError with an empty message if the operator goes on editing; what `send` throws
 */
export async function sendChanges<F extends object, R>(
  { kind, version, fields: before }: SeenRecord,
  after: F,
  send: (changes: Changes<F>) => Promise<R>,
): Promise<R> {
  const given = plain(after) as EditedFields
  // A controller of an earlier version may take what is left out for its default.
  let changed = version === undefined ? given : changedFields(before, given)
  let seen = version
  let base = before
  for (;;) {
    try {
      // These are fields of F under their names.
      return await send({ ...changed, ...(seen === undefined ? {} : { expected_version: seen }) } as Changes<F>)
    } catch (error) {
      const conflict = error instanceof CallError ? error.conflict : undefined
      if (conflict === undefined) throw error
      changed = await resolved(kind, conflict, base, changed)
      base = { ...base, ...currentValues(conflict.fields) }
      seen = conflict.version
    }
  }
}

/** Fields that forms edit part by part. */
const partedFields: Partial<Record<RecordKind, string>> = { template: 'settings' }

/** Returns the fields that are sent after a conflict. @throws CallError with an empty message if the operator goes on editing */
async function resolved(
  kind: RecordKind,
  { fields }: EditConflict,
  base: EditedFields,
  changed: EditedFields,
): Promise<EditedFields> {
  const parted = new Map(
    fields
      .filter(({ field }) => field === partedFields[kind])
      .map(({ field, current }) => [field, mergeParts(base[field], changed[field], current)]),
  )
  const asked = fields
    .filter(({ field }) => !parted.has(field) || parted.get(field)?.overlap !== undefined)
    .map((one) => ({ ...one, mine: changed[one.field], ...parted.get(one.field)?.overlap }))
  const mine = asked.length === 0 ? [] : await askAboutConflict(kind, asked)
  if (mine === undefined) throw new CallError('conflict', '')
  const others = fields.filter(({ field }) => !mine.includes(field))
  const merged = [...parted].map(([field, parts]) => [field, mine.includes(field) ? parts.mine : parts.theirs] as const)
  const kept = [...Object.entries(changed).filter(([name]) => !others.some(({ field }) => field === name)), ...merged]
  // An edit of nothing else sends the values of others again, which changes nothing: some procedures need one.
  return kept.length > 0 ? Object.fromEntries(kept) : currentValues(others)
}

/** Values that others left; secrets have none. */
function currentValues(fields: EditConflict['fields']): EditedFields {
  return Object.fromEntries(
    fields.flatMap(({ field, current }) => (current === undefined ? [] : [[field, current] as const])),
  )
}

function changedFields(before: EditedFields, after: EditedFields): EditedFields {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  )
}
