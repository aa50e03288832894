import { watch } from 'vue'
import type { ProcedureInput, ProcedureOutput } from '../../../../shared/console/contract.ts'
import { type DeclaredSetting, type Settings, settingsPatchSchema, valueAt } from '../../../../shared/settings.ts'
import { useConsole } from '../../composables/useConsole.ts'
import type { BindField } from '../../composables/useForm.ts'
import { useSettings } from '../../composables/site.ts'
import type { EditedFields } from '../../edits/recordChanges.ts'
import { useRecordForm } from '../../edits/useRecordForm.ts'
import { useText } from '../../i18n/text.ts'
import { type FieldValue, fieldValue, patchOf } from './setting-values.ts'

type SettingsInput = ProcedureInput<'settings.set'>

/**
 * Form of settings, each with a control.
 * @param before called with the changed settings before they are sent; throws a CallError to cancel
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

  /** Returns the problem of a field, or of one of its lines. */
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

  const field: BindField = (path) => ({ problem: problem(path), onFocusout: () => touch(path) })
  return { ...form, problem, touch, field }
}

/** Form for the settings of one card. */
export type SettingsForm = ReturnType<typeof useSettingsForm>

/** Options of a form for the settings of one card. */
interface SettingsRecordOptions<V extends object> {
  /** Dotted paths of the settings. */
  paths: readonly string[]
  initial: () => V
  input: (values: V) => SettingsInput
  /** Called with the changed settings before they are sent; throws a CallError to cancel. */
  before?: ((patch: SettingsInput) => Promise<void>) | undefined
  /** Called with the new settings. */
  after?: ((saved: Settings) => void) | undefined
}

/** Form of settings that are saved separately. Others may change the same or other settings meanwhile. */
export function useSettingsRecord<V extends object>({
  paths,
  initial,
  input,
  before,
  after,
}: SettingsRecordOptions<V>) {
  const client = useConsole()
  const { t } = useText()
  const { value: settings } = useSettings()

  const form = useRecordForm<V, SettingsInput, EditedFields, ProcedureOutput<'settings.set'>>({
    kind: 'settings',
    record: () => settings.value,
    schema: settingsPatchSchema,
    initial,
    input,
    fields: (patch) => Object.fromEntries(paths.map((path) => [path, valueAt(patch, path)])),
    async save({ expected_version, ...changed }) {
      const patch: SettingsInput = patchOf(changed)
      await before?.(patch)
      return await client.call('settings.set', { ...patch, expected_version })
    },
    told: () => t('settings.saved'),
    done(saved) {
      settings.value = saved
      // Input made during the call is based on its answer.
      form.look()
      after?.(saved)
    },
  })

  // Another operator may save meanwhile: unchanged cards show the new values.
  watch(settings, () => {
    if (!form.dirty.value && !form.busy.value) form.reset()
  })
  return form
}
