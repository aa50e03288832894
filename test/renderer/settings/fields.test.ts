// @vitest-environment node
/// <reference types="node" />
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { settings } from '../../../renderer/console/i18n/en/settings.ts'
import { consoleAddress } from '../../../renderer/console/pages/settings/consoleAddress.ts'
import {
  boundsOf,
  cardFields,
  defaultOf,
  fieldValue,
  patchOf,
  unitFor,
  valueAt,
} from '../../../renderer/console/pages/settings/fields.ts'
import type { SettingField } from '../../../renderer/console/pages/settings/fields.ts'
import { licenceIn } from '../../../renderer/console/pages/settings/licenceText.ts'
import { madeWith } from '../../../renderer/console/pages/settings/madeWith.ts'
import { defaultSettings, settingsPatchSchema } from '../../../shared/settings.ts'

const fields: readonly SettingField[] = Object.values(cardFields).flat()

describe('The settings page', () => {
  test('has a field for every setting, except those with a place of their own', () => {
    const paths = Object.entries(defaultSettings()).flatMap(([part, value]) =>
      Array.isArray(value) ? [part] : Object.keys(value).map((name) => `${part}.${name}`),
    )
    const hasOwnPlace = (path: string) =>
      (path.startsWith('listeners.') && path !== 'listeners.serve_console') ||
      /^recording\.(rooms|cameras|retention)$/.test(path) ||
      path === 'console.welcome_done' ||
      path === 'console.first_run' ||
      path === 'console.key_sign_in'
    expect(fields.map(({ path }) => path).sort()).toEqual(paths.filter((path) => !hasOwnPlace(path)).sort())
  })

  test('names every field', () => {
    for (const { path } of fields) {
      expect([path, typeof valueAt(settings.fields, path)]).toEqual([path, 'string'])
      expect([path, typeof valueAt(settings.hints, path)]).toEqual([path, 'string'])
    }
  })

  test('takes the range of every number from the controller’s own schema', () => {
    for (const { path, kind } of fields) {
      if (kind !== 'number' && kind !== 'quantity') continue
      const bounds = boundsOf(path)
      expect([path, bounds]).toEqual([path, { least: expect.any(Number), most: expect.any(Number) }])
    }
    expect(boundsOf('deadlines.node_ms')).toEqual({ least: 50, most: 60_000 })
  })

  test('sends valid settings when nothing was changed', () => {
    const patch = patchOf(Object.fromEntries(fields.map(({ path }) => [path, fieldValue(defaultSettings(), path)])))
    expect(settingsPatchSchema.safeParse(patch).error).toBeUndefined()
    expect(defaultOf('access.token_idle_ms')).toBe(43_200_000)
  })

  test.each([
    [43_200_000, 'h'],
    [1_000, 's'],
    [1_500, 'ms'],
    [0, 'ms'],
    [604_800_000, 'd'],
    [90_000, 's'],
  ])('shows %i ms in %s', (value, unit) => {
    const units = cardFields.deadlines[0]?.kind === 'quantity' ? cardFields.deadlines[0].units : []
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
  const bundled = ['electron', 'element-plus', 'uplot', 'vue', 'vue-i18n', 'vue-router']
  expect(madeWith.map(({ name }) => name)).toEqual([...Object.keys(dependencies), ...bundled].sort())
  for (const { name, licence } of madeWith) {
    expect([name, (await read(`node_modules/${name}/package.json`)).license]).toEqual([name, licence])
  }
})
