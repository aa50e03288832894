import type { RecordRef } from '../../../shared/domain/record-fields.ts'
import { checkedBy, type PlannedChange } from '../change-cause.ts'
import { overlappingFields, versionOfFields } from './record-version.ts'
import { type Fields, storedFields } from './stored-fields.ts'

/**
 * Thrown if an edit would change fields that were changed after the edit's caller read the record. No change of the
 * edit is stored.
 */
export class OverlappingEdit extends Error {
  readonly record: RecordRef
  readonly fields: readonly string[]
  readonly current: Fields
  constructor(record: RecordRef, fields: readonly string[], current: Fields) {
    super(`changed meanwhile: ${fields.join(', ')}`)
    this.name = 'OverlappingEdit'
    this.record = record
    this.fields = fields
    this.current = current
  }

  get version(): string {
    return versionOfFields(this.current)
  }
}

/**
 * Runs an edit, and compares each of its transactions with the current record. Fields changed only by other edits keep
 * their new values. An edit that would change one of these fields is rejected.
 * @param seen version that the caller read
 * @throws OverlappingEdit, and the errors of the edit
 */
export async function mergedEdit<T>(record: RecordRef, seen: string, run: () => T | Promise<T>): Promise<T> {
  let isRunning = true
  const check = ({ before, after }: PlannedChange): void => {
    // Work that continues after the call is not part of the edit.
    const [now, then] = isRunning ? [storedFields(before, record), storedFields(after, record)] : []
    // A deleted record is not merged: the edit itself reports the deletion.
    if (now === undefined || then === undefined) return
    const fields = overlappingFields(seen, now, then)
    if (fields.length > 0) throw new OverlappingEdit(record, fields, now)
  }
  try {
    return await checkedBy(check, run)
  } finally {
    isRunning = false
  }
}
