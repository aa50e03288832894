import { shallowRef } from 'vue'
import type { EditConflict } from '../../../shared/domain/edit-conflict.ts'
import type { RecordKind } from '../../../shared/domain/record-fields.ts'

/** Fields that both this operator and others changed. */
export interface ShownConflict {
  kind: RecordKind
  fields: readonly (EditConflict['fields'][number] & { mine: unknown })[]
  /** @param mine fields that keep this operator's value; undefined: the operator continues editing */
  answer: (mine: readonly string[] | undefined) => void
}

/** The current conflict, shown by ConflictHost. */
export const conflict = shallowRef<ShownConflict | null>(null)

/**
 * Asks the operator which value each field keeps. @returns fields that keep the operator's value; undefined: the
 * operator continues editing
 */
export function askAboutConflict(
  kind: RecordKind,
  fields: ShownConflict['fields'],
): Promise<readonly string[] | undefined> {
  conflict.value?.answer(undefined)
  return new Promise((resolve) => {
    conflict.value = {
      kind,
      fields,
      answer(chosen) {
        conflict.value = null
        resolve(chosen)
      },
    }
  })
}
