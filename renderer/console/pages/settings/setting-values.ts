import type { IceServer } from '../../../../shared/settings/media.ts'
import type { Control } from '../../../../shared/settings/setting.ts'
import { settingAt, valueAt } from '../../../../shared/settings.ts'
import type settings from '../../../../texts/en/console/settings.json'

/** Value of a settings control. Invalid numbers remain text. */
export type FieldValue = string | number | boolean | readonly string[] | readonly IceServer[]

export type UnitKey = keyof typeof settings.units
/** A selectable unit, and its factor to the unit of the setting. */
export type Unit = readonly [UnitKey, number]

const units: Readonly<Partial<Record<string, readonly Unit[]>>> = {
  ms: [
    ['ms', 1],
    ['s', 1_000],
    ['min', 60_000],
    ['h', 3_600_000],
    ['d', 86_400_000],
  ],
  'bit/s': [
    ['kbit', 1_000],
    ['mbit', 1_000_000],
  ],
}

/** Returns the selectable units of a control; undefined: the value is in the unit named in the label. */
export function unitsOf(control: Control): readonly Unit[] | undefined {
  return control.kind === 'number' ? units[control.unit] : undefined
}

/** Returns the largest unit in which a value is a whole number. */
export function unitFor(value: number, choice: readonly Unit[]): Unit {
  const fitting = choice.filter(([, factor]) => value !== 0 && value % factor === 0)
  return fitting.at(-1) ?? choice[0] ?? ['ms', 1]
}

/** Converts a value of the settings for its control. */
export function fieldValue(document: unknown, path: string): FieldValue {
  return controlValue(valueAt(document, path))
}

/** Returns the default of a setting for its control. */
export function defaultOf(path: string): FieldValue {
  return controlValue(settingAt(path)?.default)
}

function controlValue(value: unknown): FieldValue {
  // A setting with a control has a value of one of these types, or null.
  return JSON.parse(JSON.stringify(value ?? '')) as FieldValue
}

/**
 * Returns a patch of the settings from values by path. Texts are trimmed; an empty text is null for a nullable number.
 */
export function patchOf(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const patch: Record<string, unknown> = {}
  for (const [path, value] of Object.entries(values)) {
    const [part = '', name] = path.split('.')
    const trimmed = typeof value === 'string' ? value.trim() : value
    const clean = trimmed === '' && settingAt(path)?.default === null ? null : trimmed
    if (name === undefined) patch[part] = clean
    else patch[part] = { ...(typeof patch[part] === 'object' ? patch[part] : {}), [name]: clean }
  }
  return patch
}
