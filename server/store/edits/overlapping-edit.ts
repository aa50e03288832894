import type { RecordRef } from '../../../shared/domain/record-fields.ts'
import { checkedBy, type PlannedChange } from '../change-cause.ts'
import { overlap, versionOfFields } from './record-version.ts'
import { type Fields, storedFields } from './stored-fields.ts'

/** An edit would change fields that others have changed since its caller saw the record. Nothing of it is stored. */
export class OverlappingEdit extends Error {
  readonly record: RecordRef
  readonly fields: readonly string[]
  /** Fields of the record now. */
  readonly current: Fields
  constructor(record: RecordRef, fields: readonly string[], current: Fields) {
    super(`changed meanwhile: ${fields.join(', ')}`)
    this.name = 'OverlappingEdit'
    this.record = record
    this.fields = fields
    this.current = current
  }

  /** Version of the record now. */
  get version(): string {
    return versionOfFields(this.current)
  }
}

/**
 * Runs an edit. Each of its transactions is judged with the record as it is then: fields that only others changed stay as these left them, and a field that both changed refuses it.
 * @param seen version that the caller saw
 * @throws OverlappingEdit, and what the edit throws
 */
export async function mergedEdit<T>(record: RecordRef, seen: string, run: () => T | Promise<T>): Promise<T> {
  let isRunning = true
  const check = ({ before, after }: PlannedChange): void => {
    // Work that outlives the call changes the record on its own account.
    const [now, then] = isRunning ? [storedFields(before, record), storedFields(after, record)] : []
    // A record that was deleted is not merged: the edit says so itself.
    if (now === undefined || then === undefined) return
    const fields = overlap(seen, now, then)
    if (fields.length > 0) throw new OverlappingEdit(record, fields, now)
  }
  try {
    return await checkedBy(check, run)
  } finally {
    isRunning = false
  }
}
