import { declarationOf, type ProcedureName } from '../../shared/console/contract.ts'
import type { EditConflict } from '../../shared/domain/edit-conflict.ts'
import type { EventEntry } from '../../shared/domain/events.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { isSecretField, type RecordKind, type RecordRef } from '../../shared/domain/record-fields.ts'
import { hiddenSecret } from '../../shared/hidden-secret.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { SharedEventLog } from '../event-log/event-log.ts'
import type { PendingEvents } from '../event-log/pending-events.ts'
import type { RecordReader } from '../store/capability-rules.ts'
import { mergedEdit, OverlappingEdit, storedFields } from '../store/record-edits.ts'

/** Maximum number of event log entries searched for the last change of a field. */
const maxEntries = 100

interface MergedEditsDependencies {
  store: RecordReader
  events: Pick<SharedEventLog, 'query'>
  pending: Pick<PendingEvents, 'caughtUp'>
}

/**
 * Runs procedures that edit records: merges each edit with changes made since the caller read the record, or refuses
 * it.
 */
export class MergedEdits {
  readonly #dependencies: MergedEditsDependencies

  constructor(dependencies: MergedEditsDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Runs a call of any procedure.
   * @param input the input after validation by the procedure's schema
   * @param handle receives the input without the version
   * @throws RefusalError 'conflict' if others changed the same fields; errors of the handler
   */
  async run(name: ProcedureName, input: unknown, handle: (input: unknown) => unknown): Promise<unknown> {
    const { edits, whole = false } = declarationOf(name)
    if (typeof edits !== 'function') return await handle(input)
    // `expected_version` is part of the schema of every edit.
    const { expected_version: seen, ...changes } = input as { expected_version?: string | undefined }
    const record = edits(input)
    if (record === undefined || seen === undefined) return await handle(changes)
    try {
      return await mergedEdit(record, seen, () => handle(whole ? this.#completed(record, changes) : changes))
    } catch (error) {
      if (error instanceof OverlappingEdit) throw await this.#refusal(error)
      throw error
    }
  }

  /**
   * Adds the stored values of omitted fields to an input that represents the whole record. Secrets are not added,
   * because the procedures keep omitted secrets.
   */
  #completed(record: RecordRef, changes: object): object {
    const stored = Object.entries(storedFields(this.#dependencies.store, record) ?? {})
    return { ...Object.fromEntries(stored.filter(([field]) => !isSecretField(field))), ...changes }
  }

  async #refusal(error: OverlappingEdit): Promise<RefusalError> {
    const { record, fields, current, version } = error
    const entries = await this.#entriesOf(record)
    const conflict: EditConflict = {
      version,
      fields: fields.map((field) => ({
        field,
        ...(isSecretField(field) ? {} : { current: shown(current[field]) }),
        changed: lastChange(entries, record.kind, field),
      })),
    }
    return new RefusalError(refusal('changedMeanwhile', { fields: fields.join(', ') }), { conflict, cause: error })
  }

  /** Returns the latest changes of a record; empty if the log cannot be read. */
  async #entriesOf({ kind: type, key: id }: RecordRef): Promise<readonly EventEntry[]> {
    try {
      await this.#dependencies.pending.caughtUp()
      const groups: ['changes', 'rooms'] = ['changes', 'rooms']
      const { items } = await this.#dependencies.events.query({ subject: { type, id }, groups, limit: maxEntries })
      return items
    } catch {
      // The edit is refused in any case; without the log, the refusal contains no author.
      return []
    }
  }
}

/** Paths of fields that have other names in the event log. */
const loggedPaths: Partial<Record<RecordKind, Readonly<Record<string, readonly string[]>>>> = {
  room: { rule: ['recording'] },
  device: {
    login_name: ['options.login_name'],
    assist_address: ['options.assist_address'],
    old_tls: ['options.old_tls'],
    rule: ['recording'],
  },
  node: { api_secret: ['secrets'], admin_secret: ['secrets'], admin_key: ['secrets'], token_secret: ['secrets'] },
  wall: { arrangement: ['layout', 'rotate_s'] },
}

function lastChange(
  entries: readonly EventEntry[],
  kind: RecordKind,
  field: string,
): EditConflict['fields'][number]['changed'] {
  const paths = loggedPaths[kind]?.[field] ?? [field]
  const isOfField = (path: string): boolean => paths.some((one) => path === one || path.startsWith(`${one}.`))
  const entry = entries.find(({ before = {}, after = {} }) =>
    [...Object.keys(before), ...Object.keys(after)].some(isOfField),
  )
  return entry === undefined ? null : { by: entry.actor, at: entry.at }
}

/** Converts a value to its form in the procedure's input: secrets become placeholders. */
function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shown)
  if (typeof value !== 'object' || value === null) return value ?? null
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) =>
      name.endsWith('_sealed') ? [name.replace(/_sealed$/, ''), part === '' ? '' : hiddenSecret] : [name, shown(part)],
    ),
  )
}
