import { isLeftOut } from '../traffic/format.ts'
import type { KnownIds } from './known-ids.ts'

/** A field of an answer that is not as recorded. */
export interface Difference {
  /** Path of the field, such as `data.items.0.userName`. */
  field: string
  /** Recorded value; undefined: the field is new. */
  recorded: unknown
  /** Value of the replay; undefined: the field is missing. */
  found: unknown
}

/** Names of fields with ids, which each server chooses for itself. */
const idField = /^id$|_id$|Id$/
/** Names of fields with times. */
const timeField = /_at$|_in_ms$|[tT]ime$/

/**
 * Compares the fields of an answer with the recorded ones. Secrets and times are not compared; ids must correspond.
 * Fields that the recording lacks are differences.
 */
export function compareAnswers(
  recorded: Readonly<Record<string, unknown>>,
  found: Readonly<Record<string, unknown>>,
  ids: KnownIds,
): Difference[] {
  const differences: Difference[] = []
  const compare = (before: unknown, now: unknown, path: readonly string[]): void => {
    const name = path.at(-1) ?? ''
    if (isLeftOut(before)) {
      if (now === undefined) differences.push({ field: path.join('.'), recorded: 'a secret', found: now })
      return
    }
    if (isObject(before) && isObject(now)) {
      for (const key of new Set([...Object.keys(before), ...Object.keys(now)]))
        compare(before[key], now[key], [...path, key])
      return
    }
    const alike =
      isId(before) && isId(now) && idField.test(name)
        ? ids.match(before, now)
        : typeof before === typeof now && (before === now || timeField.test(name))
    if (!alike) differences.push({ field: path.join('.'), recorded: before, found: now })
  }
  compare(recorded, found, [])
  return differences
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}
