import { type SettingsPatch, settingsPatchSchema, settingsSchema } from '../../shared/settings.ts'

/** Values of which some setting of each type accepts one. */
const candidates: readonly unknown[] = [
  ...[true, false, 1, 2, 7, 20, 60, 200, 1_000, 60_000, 200_000, 3_600_000],
  ...['192.0.2.1', 'https://elsewhere.example', 'elsewhere', '/tmp/elsewhere.pem'],
  ...['dark', 'de', 'self-signed', 'udp', 'nothing', 'all'],
  ...[['sha1-hex'], ['https://elsewhere.example'], ['192.0.2.0/24'], [{ urls: ['turn:elsewhere.example'] }]],
  ...[{ when: 'always' }, { days: 1, gigabytes: 0 }, { purpose: 'lab' }],
]

/**
 * Returns a valid patch that changes one setting from its default.
 * @throws Error when no candidate is valid for the setting
 */
export function changedSetting(path: string): SettingsPatch {
  const [part = '', field] = path.split('.')
  const before: unknown = Reflect.get(settingsSchema.parse({}), part)
  const old: unknown = field === undefined ? before : Reflect.get(Object(before), field)
  for (const value of candidates) {
    const patch = settingsPatchSchema.safeParse({ [part]: field === undefined ? value : { [field]: value } })
    if (!patch.success) continue
    const given: unknown = Reflect.get(patch.data, part)
    const after: unknown = field === undefined ? given : Reflect.get(Object(given), field)
    if (JSON.stringify(after) !== JSON.stringify(old)) return patch.data
  }
  throw new Error(`add a candidate that is valid for ${path}`)
}
