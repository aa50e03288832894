import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { accessOfCall } from '../../../shared/console/call-access.ts'
import { type TokenScope, tokenScopes } from '../../../shared/domain/token-scopes.ts'
import { allSettings, defaultSettings } from '../../../shared/settings.ts'
import { changedSetting } from '../../support/changed-setting.ts'
import { type ControllerSite, openControllerSite, password } from '../../support/sites/controller-site.ts'

const settingPaths = allSettings.map(({ path }) => path)
const openToTokens = allSettings.filter(({ access }) => access === 'open').map(({ path }) => path)

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
  return () => site.remove()
})

describe('Each setting', () => {
  test('requires a person who entered the password, unless its declaration opens it', () => {
    for (const procedure of ['settings.set', 'settings.check'] as const) {
      const open = settingPaths.filter((path) => !accessOfCall(procedure, changedSetting(path), before).person)
      expect(open).toEqual(openToTokens)
    }
    expect(settingPaths.length).toBeGreaterThan(85)
  })

  test('is open only as a number, a switch or a choice: texts and lists name addresses, files and networks', () => {
    const open = allSettings.filter(({ access, card }) => access === 'open' && card !== 'none')
    const wrong = open.filter(({ control: { kind, ...more } }) => {
      const isPort = 'unit' in more && more.unit === 'port'
      return isPort || !['number', 'switch', 'choice'].includes(kind)
    })
    expect(wrong.map(({ path }) => path)).toEqual([])
    expect(open.length).toBeLessThan(25)
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

  test('that is open can be changed with site:write, and by an old session', async () => {
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

  test('can be changed by a person who entered the password, and by the console key', async () => {
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
  onTestFinished(async () => {
    await site.call(key, 'settings.set', { object_storage: defaultSettings().object_storage })
  })
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
