import type { Settings, SettingsPatch } from '../settings.ts'

/** Settings that grant access, extend it, or guard it; `true`: the whole part. */
const waysIn = {
  listeners: ['host'],
  tls: true,
  access: true,
  cors_origins: true,
  media: ['public_url', 'open_rooms', 'trust_any_certificate'],
  compatibility: true,
  console: ['key_sign_in', 'metrics_token'],
} as const satisfies { readonly [P in keyof Settings]?: true | readonly string[] }

/** Tells whether a patch changes a setting that grants or guards access; an unchanged value is no change. */
export function changesWayIn(patch: SettingsPatch, settings: Settings): boolean {
  return Object.entries(waysIn).some(([name, fields]) => {
    const part = name as keyof typeof waysIn
    const given = patch[part]
    if (given === undefined) return false
    if (Array.isArray(given)) return JSON.stringify(given) !== JSON.stringify(settings[part])
    const before = fieldsOf(settings[part])
    return Object.entries(given).some(
      ([field, value]) =>
        value !== undefined &&
        (fields === true || fields.some((one) => one === field)) &&
        JSON.stringify(value) !== JSON.stringify(before[field]),
    )
  })
}

function fieldsOf(value: object): Readonly<Record<string, unknown>> {
  return { ...value }
}
