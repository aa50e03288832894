import type { DeclaredSetting, Settings } from '../../../../shared/settings.ts'
import { useSettings } from '../../composables/useSettings.ts'
import { type FieldValue, fieldValue, patchOf } from './setting-values.ts'
import { type SettingsInput, useSettingsRecord } from './useSettingsRecord.ts'

/**
 * Form of some settings with a control each.
 * @param before called with the changed settings before they are sent; throws a CallError to refuse
 * @param after called with the new settings
 */
export function useSettingsForm(
  fields: readonly DeclaredSetting[],
  before?: (patch: SettingsInput) => Promise<void>,
  after?: (saved: Settings) => void,
) {
  const { value: settings } = useSettings()
  const paths = fields.map(({ path }) => path)
  const form = useSettingsRecord<Record<string, FieldValue>>({
    paths,
    initial: () => Object.fromEntries(paths.map((path) => [path, fieldValue(settings.value, path)])),
    input: patchOf,
    before,
    after,
  })

  /** Problem of a field, or of a line of it. */
  function problem(path: string): string {
    const own = form.problem(path)
    if (own) return own
    const inner = [...form.issues.value.keys()].find((key) => key.startsWith(`${path}.`) && form.problem(key))
    return inner === undefined ? '' : form.problem(inner)
  }

  function touch(path: string): void {
    form.touch(path)
    for (const key of form.issues.value.keys()) if (key.startsWith(`${path}.`)) form.touch(key)
  }

  return { ...form, problem, touch }
}
