import { isSecretField, type RecordField, type RecordKind } from '../../../shared/domain/record-fields.ts'
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

type Labels = { readonly [K in Exclude<RecordKind, 'settings'>]: Readonly<Record<RecordField<K>, TextKey>> }

/** Labels of fields, as their forms show them. */
const labels: Labels = {
  room: {
    topic: 'rooms.fields.topic',
    host_password: 'rooms.fields.host_password',
    max_video: 'rooms.fields.max_video',
    max_audio: 'rooms.fields.max_audio',
    attendee_max: 'rooms.fields.attendee_max',
    room_mode: 'rooms.fields.room_mode',
    entry_by_number: 'rooms.fields.entry_by_number',
    waiting_room: 'rooms.fields.waiting_room',
    schedule: 'schedule.title',
    tags: 'tags.title',
    rule: 'recording.rule',
  },
  device: {
    roomId: 'words.room',
    userName: 'words.name',
    userAddress: 'devices.fields.address',
    userData: 'devices.fields.userData',
    login_name: 'devices.fields.login_name',
    login_password: 'words.password',
    assist_address: 'devices.fields.assist',
    old_tls: 'devices.fields.oldTls',
    tags: 'tags.title',
    rule: 'recording.rule',
  },
  node: {
    enabled: 'nodes.fields.enabled',
    port: 'nodes.fields.port',
    addresses: 'nodes.fields.addresses',
    idc_code: 'nodes.fields.idc_code',
    weight: 'nodes.fields.weight',
    max_rooms: 'nodes.fields.max_rooms',
    max_users: 'nodes.fields.max_users',
    ws_url: 'nodes.janus.ws_url',
    admin_url: 'nodes.janus.admin_url',
    api_secret: 'nodes.janus.secrets',
    admin_secret: 'nodes.janus.secrets',
    admin_key: 'nodes.janus.secrets',
    token_secret: 'nodes.janus.secrets',
  },
  credential: { label: 'credentials.columns.label', enabled: 'words.enabled', p2p: 'credentials.columns.p2p' },
  account: { name: 'accounts.list.name', role: 'accounts.list.role', enabled: 'words.enabled' },
  template: { name: 'words.name', settings: 'edits.templateSettings' },
  wall: { name: 'wall.name', items: 'wall.tiles', arrangement: 'wall.options.title' },
  licence: {
    expires_at: 'settings.licence.expires_at',
    max_rooms: 'settings.licence.max_rooms',
    max_users: 'settings.licence.max_users',
  },
}

/** The same labels, for field names of any type. */
const fieldLabels: Readonly<Record<keyof Labels, Readonly<Partial<Record<string, TextKey>>>>> = labels
