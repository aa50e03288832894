import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessOfCall } from '../../../shared/console/roles.ts'
import { type TokenScope, tokenScopes } from '../../../shared/console/token-scopes.ts'
import { defaultSettings } from '../../../shared/settings.ts'
import { changedSetting, settingPaths } from '../../support/changed-setting.ts'
import { type ControllerSite, openControllerSite, password } from '../../support/sites/controller-site.ts'

/**
 * Settings that a token with `site:write` may change: none leads people, media or data elsewhere, grants access, shows more to somebody, deletes anything earlier, opens a port or names
 * a file.
 */
const openToTokens = [
  'room_defaults.attendee_max',
  'room_defaults.max_video',
  'room_defaults.max_audio',
  'deadlines.store_ms',
  'deadlines.node_ms',
  'deadlines.device_ms',
  'deadlines.health_ms',
  'deadlines.health_interval_ms',
  'deadlines.shutdown_ms',
  'devices.reconnect_first_ms',
  'devices.reconnect_longest_ms',
  'devices.reconnect_steady_ms',
  'media.resume_ms',
  'media.camera_transport',
  'media.camera_answer_ms',
  'media.camera_stall_ms',
  'media.publish_bitrate',
  'media.screen_bitrate',
  'media.transcoders',
  'media.most_tiles',
  'console.language',
  'console.theme',
  'console.welcome_done',
  'console.first_run',
  'console.thumbnails',
]

/** A caller who may not change most settings. */
interface Caller {
  who: string
  credential: string
  scopes: readonly TokenScope[] | undefined
}

const minute = 60_000
const before = { settings: defaultSettings(), node: () => undefined, linkLifeMs: () => 0 }
let site: ControllerSite
let key = ''
let late = 0
const callers: Caller[] = []
beforeAll(async () => {
  site = await openControllerSite(undefined, { accountClock: () => Date.now() + late })
  key = await site.key()
  const { id } = await site.create('root', 'admin')
  callers.push({ who: 'old session', credential: await site.signIn('root'), scopes: undefined })
  late = 11 * minute
  const token = async (scopes: readonly TokenScope[]): Promise<Caller> => {
    const input = { id, label: scopes.join(' ').slice(0, 40), scopes: [...scopes] }
    const { token: credential } = await site.call(key, 'accounts.create_token', input)
    return { who: `token for ${input.label}`, credential, scopes }
  }
  for (const scope of tokenScopes) callers.push(await token([scope]))
  callers.push(await token(tokenScopes))
})
afterAll(() => site.remove())

describe('Each setting', () => {
  test('requires a person who entered the password, except those of the list', () => {
    const open = settingPaths.filter((path) => !accessOfCall('settings.set', changedSetting(path), before).person)
    expect(open.sort()).toEqual([...openToTokens].sort())
    const checked = settingPaths.filter((path) => !accessOfCall('settings.check', changedSetting(path), before).person)
    expect(checked.sort()).toEqual([...openToTokens].sort())
    expect(settingPaths.length).toBeGreaterThan(85)
  })

  test('is refused to every token, and to a session whose password was entered 11 minutes ago', async () => {
    const wrong: string[] = []
    const settings = await site.call(key, 'settings.get', {})
    for (const path of settingPaths.filter((one) => !openToTokens.includes(one)))
      await Promise.all(
        callers.flatMap(({ who, credential, scopes }) =>
          (['settings.set', 'settings.check'] as const).map(async (procedure) => {
            const answer = await site.result(credential, procedure, changedSetting(path))
            const refused =
              scopes === undefined ? 'passwordNeeded' : scopes.includes('site:write') ? 'personNeeded' : 'scopeMissing'
            const name = answer.ok ? 'accepted' : answer.error.name
            if (name !== refused) wrong.push(`${procedure} ${path}, ${who}: ${name} instead of ${refused}`)
          }),
        ),
      )
    expect(wrong).toEqual([])
    expect(await site.call(key, 'settings.get', {})).toEqual(settings)
  })

  test('of the list is changed with site:write, and by an old session', async () => {
    const able = callers.filter(({ scopes }) => scopes === undefined || scopes.includes('site:write'))
    expect(able.length).toBe(3)
    for (const path of openToTokens)
      for (const { who, credential } of able) {
        const answer = await site.result(credential, 'settings.set', changedSetting(path))
        expect([path, who, answer.ok]).toEqual([path, who, true])
      }
    // The site closes within these deadlines.
    await site.call(key, 'settings.set', { deadlines: defaultSettings().deadlines })
  })

  test('is changed by a person who entered the password, and by the console key', async () => {
    const fresh = await site.signIn('root')
    for (const credential of [fresh, key]) {
      for (const days of [30, 60]) await site.call(credential, 'settings.set', { events: { days } })
      await site.call(credential, 'settings.set', { recording: { viewers: 'all' } })
      await site.call(credential, 'settings.set', { recording: { viewers: 'cameras' } })
    }
  })
})

test('An unchanged value, or a hidden secret that is sent back, is no change', async () => {
  const fresh = await site.signIn('root')
  const object_storage = {
    endpoint: 'https://s3.example',
    access_key_id: 'key',
    secret_access_key: 'secret-of-the-bucket',
  }
  await site.call(fresh, 'settings.set', { object_storage })
  late += 11 * minute
  const { object_storage: shown } = await site.call(fresh, 'settings.get', {})
  expect(shown.secret_access_key).not.toBe(object_storage.secret_access_key)
  expect((await site.result(fresh, 'settings.set', { object_storage: shown })).ok).toBe(true)
  const moved = { ...shown, endpoint: 'https://elsewhere.example' }
  expect(await site.result(fresh, 'settings.set', { object_storage: moved })).toMatchObject({
    error: { name: 'passwordNeeded' },
  })
  await site.call(fresh, 'account.confirm_password', { password })
  expect((await site.result(fresh, 'settings.set', { object_storage: moved })).ok).toBe(true)
})
