import { watch } from 'vue'
import { settingsPatchSchema } from '../../../../shared/settings.ts'
import type { Settings } from '../../../../shared/settings.ts'
import type { ProcedureInput, ProcedureOutput } from '../../../../shared/console/contract.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useForm } from '../../composables/useForm.ts'
import { useSettings } from '../../composables/useSettings.ts'
import { useText } from '../../i18n/text.ts'
import { fieldValue, patchOf } from './fields.ts'
import type { FieldValue, SettingField } from './fields.ts'
import { useUnsavedCard } from './useUnsaved.ts'

type Patch = ProcedureInput<'settings.set'>

/**
 * Form of some settings that are saved separately.
 * @param before called with the patch before it is sent; throws a CallError to refuse
 * @param after called with the new settings
 */
export function useSettingsForm(
  fields: readonly SettingField[],
  before?: (patch: Patch) => Promise<void>,
  after?: (saved: Settings) => void,
) {
  const client = useConsole()
  const { t } = useText()
  const { tell } = useFeedback()
  const { value: settings } = useSettings()

  const form = useForm<Record<string, FieldValue>, Patch, ProcedureOutput<'settings.set'>>({
    schema: settingsPatchSchema,
    initial: () => Object.fromEntries(fields.map(({ path }) => [path, fieldValue(settings.value, path)])),
    input: patchOf,
    async submit(patch) {
      await before?.(patch)
      return client.call('settings.set', patch)
    },
    done(saved) {
      settings.value = saved
      tell(t('settings.saved'))
      after?.(saved)
    },
  })

  // Another operator may save meanwhile: untouched fields follow.
  watch(settings, () => {
    if (!form.dirty.value && !form.busy.value) form.reset()
  })
  useUnsavedCard(form.dirty)

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
