import { Menu } from 'electron'
import { expect, onTestFinished, test } from 'vitest'
import { setApplicationMenu } from '../../main/menu.ts'
import { textsFor } from '../../main/texts.ts'
import { onSystem } from '../support/on-system.ts'

const texts = textsFor('en', '')
const nothing = (): undefined => undefined
const no = (): boolean => false

/** Reads the labels of the menus on a system, and of the entries of one menu. */
function menusOn(system: NodeJS.Platform): Map<string, string[]> {
  onSystem(system)
  onTestFinished(() => Menu.setApplicationMenu(null))
  const does = { go: nothing, restartListeners: nothing, openDataFolder: nothing, quit: nothing, toggleWalls: nothing }
  const sets = { setStartsAtLogin: nothing, setKeepsAwake: nothing, setKeepsInTray: nothing }
  setApplicationMenu({ ...does, ...sets, startsAtLogin: no, wallsAreOpen: no, keepsInTray: no, keepsAwake: no }, texts)
  const items = Menu.getApplicationMenu()?.items ?? []
  return new Map(items.map(({ label, submenu }) => [label, submenu?.items.map((item) => item.label) ?? []]))
}

test('macOS has a menu of the app with the settings, and one of its windows', () => {
  const menus = menusOn('darwin')
  expect([...menus.values()][0]).toEqual(expect.arrayContaining([texts.pages.settings, texts.roles.hide, texts.quit]))
  expect(menus.get(texts.window)).toEqual([texts.roles.minimize, texts.roles.zoom, '', texts.roles.front])
  expect(menus.get(texts.file)).not.toContain(texts.quit)
})

test.each(['linux', 'win32'] as const)('on %s the first menu holds the settings and the end of the app', (system) => {
  const menus = menusOn(system)
  expect([...menus.keys()][0]).toBe(texts.file)
  expect(menus.get(texts.file)).toEqual(expect.arrayContaining([texts.pages.settings, texts.roles.close, texts.quit]))
  expect(menus.has(texts.window)).toBe(false)
})
