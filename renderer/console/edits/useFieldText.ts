import { isSecretField, type RecordKind } from '../../../shared/domain/record-fields.ts'
import { hiddenSecret } from '../../../shared/hidden-secret.ts'
import { isLanguage, languageOf } from '../../../shared/languages.ts'
import { recordingRuleSchema, retentionSchema } from '../../../shared/recordings/recording-rule.ts'
import { roomScheduleSchema } from '../../../shared/schedule/room-schedule.ts'
import { settingAt } from '../../../shared/settings.ts'
import { useRuleText } from '../components/recording/ruleText.ts'
import { useFormat } from '../composables/useFormat.ts'
import { type TextKey, useText } from '../i18n/text.ts'
import { unitFor, unitsOf } from '../pages/settings/setting-values.ts'
import { useScheduleText } from '../pages/rooms/useScheduleText.ts'
import { fieldLabels } from './fieldLabels.ts'

/** Maximum length of a value that has no text of its own. */
const maxLength = 300

/** Describes fields of records and their values. */
export function useFieldText() {
  const { t } = useText()
  const { number } = useFormat()
  const { scheduleText } = useScheduleText()
  const { ruleText } = useRuleText()

  /** Returns the label of a field in its form, else its name. */
  function fieldLabel(kind: RecordKind, field: string): string {
    if (kind !== 'settings') {
      const key = fieldLabels[kind][field]
      return key === undefined ? field : t(key)
    }
    const key = `settings.fields.${field}.label` as TextKey
    const label = t(key)
    // A setting without a card has no text.
    return label === key ? field : label
  }

  /** Describes a value. @param value undefined: a secret, or no value */
  function fieldValue(kind: RecordKind, field: string, value: unknown): string {
    if (isSecretField(field)) return value === '' ? t('edits.none') : t('edits.secret')
    if (field === 'rule') return ruleOf(kind, value)
    if (kind === 'template' && field === 'settings') return templateSettings(value)
    if (value === undefined || value === null || value === '') return t('edits.none')
    if (field === 'schedule') return scheduleOf(value)
    if (kind === 'settings') return settingValue(field, value)
    if (field === 'entry_by_number' && value === 'inherit') return t('rooms.fields.byDefault')
    if (field === 'entry_by_number' && (value === 'on' || value === 'off')) return t(`rooms.fields.entries.${value}`)
    if (field === 'room_mode' && (value === 1 || value === 2 || value === 3 || value === 4))
      return t(`rooms.modes.m${value}`)
    if (field === 'role' && (value === 'viewer' || value === 'operator' || value === 'admin'))
      return t(`accounts.roles.${value}`)
    return plainValue(field, value)
  }

  /** Describes a recording rule and its retention, one line each. */
  function ruleOf(kind: RecordKind, value: unknown): string {
    const { data: rule } = recordingRuleSchema.safeParse(value)
    if (rule === undefined) return t('rooms.fields.byDefault')
    const { quality, retention } = rule
    return [
      ruleText(rule, kind === 'room'),
      ...(kind === 'room' || quality === undefined ? [] : [t(`recording.quality.${quality}`)]),
      ...(retention === undefined ? [] : [retentionOf(retention)]),
    ].join('\n')
  }

  function retentionOf(value: unknown): string {
    const { data } = retentionSchema.safeParse(value)
    if (data === undefined) return t('edits.none')
    return (['days', 'gigabytes'] as const)
      .map((name) => named(t(`recording.fields.${name}`), number(data[name])))
      .join('\n')
  }

  /** Describes the settings that a template gives to its rooms, one line each. */
  function templateSettings(value: unknown): string {
    if (typeof value !== 'object' || value === null) return t('edits.none')
    const lines = Object.entries(value).map(([name, part]) =>
      named(
        fieldLabel('room', name),
        part === null && name !== 'tags' ? t('rooms.fields.byDefault') : fieldValue('room', name, part),
      ),
    )
    return lines.join('\n')
  }

  const named = (field: string, value: string): string => t('edits.named', { field, value })

  function scheduleOf(value: unknown): string {
    const schedule = roomScheduleSchema.safeParse(value)
    return schedule.success ? scheduleText(schedule.data) : plainValue('schedule', value)
  }

  function settingValue(path: string, value: unknown): string {
    const control = settingAt(path)?.control ?? { kind: 'none' }
    const units = unitsOf(control)
    if (units !== undefined && typeof value === 'number') {
      const [unit, factor] = unitFor(value, units)
      return `${number(value / factor)} ${t(`settings.units.${unit}`)}`
    }
    if (control.kind === 'choice' && typeof value === 'string')
      return isLanguage(value) ? languageOf(value).name : t(`settings.choices.${value}` as TextKey)
    if (path === 'recording.rooms') return ruleOf('room', value)
    if (path === 'recording.cameras') return ruleOf('device', value)
    return path === 'recording.retention' ? retentionOf(value) : plainValue(path, value)
  }

  function plainValue(field: string, value: unknown): string {
    if (typeof value === 'boolean') return t(value ? 'words.yes' : 'words.no')
    // A port is an identifier, so it has no thousands separators.
    if (typeof value === 'number') return field.endsWith('port') ? String(value) : number(value)
    if (typeof value === 'string') return value === hiddenSecret ? t('edits.secret') : value
    if (Array.isArray(value) && value.length === 0) return t('edits.none')
    if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ')
    const text = Array.isArray(value) ? value.map(partsOf).join('\n') : partsOf(value)
    return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
  }

  return { fieldLabel, fieldValue }
}

/** Joins the values of an object in one line: `local 10.0.0.5:7082`. */
function partsOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.values(value)
    .filter((part) => part !== '' && part !== null)
    .map((part) => (typeof part === 'object' ? JSON.stringify(part) : String(part)))
    .join(' ')
}
