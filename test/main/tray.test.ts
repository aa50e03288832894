import { type Menu, Tray } from 'electron'
import { join, resolve } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, expect, test, vi } from 'vitest'
import type { ShellState } from '../../main/shell-state.ts'
import { textsFor } from '../../main/texts.ts'
import { RoomdeskTray } from '../../main/tray.ts'
import { onSystem } from '../support/on-system.ts'

const icons = join(resolve(import.meta.dirname, '../..'), 'assets/tray')
const texts = textsFor('en', '')

/** The tray object, and its changes since the last reading. */
let icon: () => Tray
let set: string[]
let menu: Menu
let opened: number
let startsAtLogin: boolean
beforeEach(() => {
  set = []
  opened = 0
  startsAtLogin = false
  for (const name of ['setImage', 'setToolTip', 'setContextMenu'] as const) {
    vi.spyOn(Tray.prototype, name).mockImplementation(function (this: Tray, value: unknown) {
      icon = () => this
      set.push(name)
      if (name === 'setContextMenu') menu = value as Menu
    })
  }
})
function trayOn(system: NodeJS.Platform): RoomdeskTray {
  onSystem(system)
  return new RoomdeskTray(icons, {
    open: () => void (opened += 1),
    restartListeners: () => undefined,
    quit: () => undefined,
    startsAtLogin: () => startsAtLogin,
    // The system does not permit this change.
    setStartsAtLogin: () => undefined,
  })
}
const site = (rooms: number): ShellState => ({
  attention: [],
  counts: {
    rooms,
    credentials: 0,
    nodes: 1,
    nodes_online: 1,
    devices: 0,
    devices_joined: 0,
    people: 0,
    sessions: 0,
  },
})
/** Reads and clears the changes. */
const changes = () => set.splice(0)
const label = (id: string) => menu.getMenuItemById(id)?.label

test('only changed parts are updated', () => {
  const tray = trayOn('linux')
  tray.update(undefined, texts)
  expect(changes()).toEqual(['setToolTip', 'setContextMenu'])
  tray.update(site(1), texts)
  expect(changes()).toEqual(['setToolTip', 'setContextMenu'])
  tray.update(site(1), texts)
  expect(changes()).toEqual([])
  tray.update(site(2), texts)
  expect(changes()).toEqual(['setContextMenu'])
  expect(label('counts')).toContain('Rooms 2')
  tray.update({ ...site(2), attention: [{ level: 'error' } as never] }, texts)
  expect(changes()).toEqual(['setImage', 'setToolTip', 'setContextMenu'])
})

test.each(['darwin', 'win32'] as const)('an open menu on %s stays unchanged until it is closed', async (system) => {
  const tray = trayOn(system)
  tray.update(site(1), texts)
  changes()
  menu.emit('menu-will-show', {})
  tray.update(site(2), texts)
  tray.update(site(3), texts)
  expect(changes()).toEqual([])
  menu.emit('menu-will-close', {})
  await turn()
  expect(changes()).toEqual(['setContextMenu'])
  expect(label('counts')).toContain('Rooms 3')
})

test('a checkbox whose change failed is reset', () => {
  const tray = trayOn('linux')
  tray.update(site(1), texts)
  changes()
  const click = menu.getMenuItemById('start-at-login')?.click as () => void
  click()
  tray.update(site(1), texts)
  expect(changes()).toEqual(['setContextMenu'])
  expect(menu.getMenuItemById('start-at-login')?.checked).toBe(false)
})

test.each([
  ['win32', 1],
  ['linux', 1],
  // On these systems a click opens the menu.
  ['darwin', 0],
] as const)('a click on the icon on %s opens the window %i times', (system, times) => {
  trayOn(system).update(site(1), texts)
  icon().emit('click')
  expect(opened).toBe(times)
  menu.getMenuItemById('open')?.click()
  expect(opened).toBe(times + 1)
})
