// @vitest-environment node
/// <reference types="node" />
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { consoleAddress } from '../../../renderer/console/pages/settings/useConsoleMove.ts'
import { licenceIn } from '../../../renderer/console/pages/settings/licenceText.ts'
import { madeWith } from '../../../renderer/console/pages/settings/madeWith.ts'
import { fieldValue, patchOf, unitFor, unitsOf } from '../../../renderer/console/pages/settings/setting-values.ts'
import { allSettings, defaultSettings, settingAt, settingsPatchSchema } from '../../../shared/settings.ts'

describe('The settings page', () => {
  test('sends valid settings when nothing was changed', () => {
    const paths = allSettings.filter(({ control }) => control.kind !== 'none').map(({ path }) => path)
    const patch = patchOf(Object.fromEntries(paths.map((path) => [path, fieldValue(defaultSettings(), path)])))
    expect(settingsPatchSchema.safeParse(patch).error).toBeUndefined()
  })

  test.each([
    [43_200_000, 'h'],
    [1_000, 's'],
    [1_500, 'ms'],
    [0, 'ms'],
    [604_800_000, 'd'],
    [90_000, 's'],
  ])('shows %i ms in %s', (value, unit) => {
    const units = unitsOf(settingAt('deadlines.store_ms')?.control ?? { kind: 'none' }) ?? []
    expect(unitFor(value, units)[0]).toBe(unit)
  })
})

test('the page follows the console to its new port, on the same host name', () => {
  const here = { hostname: 'desk.example.org', hash: '#/settings/network' }
  expect(consoleAddress('http://127.0.0.1:9000', '0.0.0.0', here)).toBe(
    'http://desk.example.org:9000/#/settings/network',
  )
  expect(consoleAddress('http://10.0.0.5:9000', '10.0.0.5', here)).toBe('http://10.0.0.5:9000/#/settings/network')
  expect(consoleAddress('http://127.0.0.1:9000', '127.0.0.1', { hostname: 'localhost', hash: '' })).toBe(
    'http://localhost:9000/',
  )
})

test('a licence is read alone or from a site file, and an invalid one says so', () => {
  const licence = { expires_at: '2027-12-31', max_rooms: 5, max_users: 0 }
  expect(licenceIn('{"expires_at":"2027-12-31","max_rooms":5}')).toEqual({ ok: true, licence })
  expect(licenceIn(JSON.stringify({ licence, settings: {} }))).toEqual({ ok: true, licence })
  expect(licenceIn('{"expires_at":"soon"}')).toMatchObject({ ok: false })
  expect(licenceIn('no json')).toMatchObject({ ok: false })
})

test('every shipped part is listed with its licence', async () => {
  const root = join(import.meta.dirname, '../../..')
  const read = async (path: string) => JSON.parse(await readFile(join(root, path), 'utf8')) as Record<string, unknown>
  const { dependencies } = (await read('package.json')) as { dependencies: Record<string, string> }
  const bundled = ['@vueuse/core', 'electron', 'element-plus', 'uplot', 'vue', 'vue-i18n', 'vue-router']
  expect(madeWith.map(({ name }) => name)).toEqual([...Object.keys(dependencies), ...bundled].sort())
  for (const { name, licence } of madeWith) {
    expect([name, (await read(`node_modules/${name}/package.json`)).license]).toEqual([name, licence])
  }
})
