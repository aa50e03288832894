import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import {
  applicationMenu,
  chooseInMenu,
  chooseInTray,
  clickTray,
  type MenuEntry,
  noteSurroundings,
  tray,
  windowState,
  withWindow,
} from './around-the-page.ts'
import { keychain, launch } from './desktop.ts'
import { shared, sharedFolder } from '../support/fixtures.ts'

/** Folder of the autostart entries in this session. */
const config = sharedFolder()
const desktop = shared(() => launch({ env: { XDG_CONFIG_HOME: config(), ...keychain('working') } }))
beforeAll(async () => {
  await noteSurroundings(desktop().app)
  // The tray is recorded from its next change on, and only changes redraw it.
  await desktop().call('settings.set', { console: { language: 'zh' } })
  await vi.waitUntil(async () => (await inTray('quit')) !== undefined, { timeout: 10_000 })
  await desktop().call('settings.set', { console: { language: 'en' } })
  await vi.waitUntil(async () => (await inTray('quit'))?.label === 'Quit Roomdesk', { timeout: 10_000 })
})

const inTray = async (id: string): Promise<MenuEntry | undefined> =>
  (await tray(desktop().app))?.entries.find((entry) => entry.id === id)
const inMenu = async (id: string): Promise<MenuEntry | undefined> =>
  (await applicationMenu(desktop().app)).flatMap(({ submenu }) => submenu).find((entry) => entry.id === id)
const heading = (): Promise<string> => desktop().page.getByRole('heading', { level: 1 }).innerText()

describe('the tray', () => {
  test('shows the state of the site, and its counts', async () => {
    await desktop().call('nodes.add', { name: 'Lab', kind: 'simulated' })
    const room = (await desktop().call('rooms.create', { topic: 'Hall' })) as { room_id: string }
    await expect.poll(async () => (await inTray('counts'))?.label).toContain('Rooms 1 · People 0 · Devices 0')
    await desktop().call('rooms.delete', { room_ids: [room.room_id] })
    await expect.poll(async () => (await inTray('counts'))?.label).toContain('Rooms 0')
    expect(await inTray('state')).toMatchObject({ enabled: false })
    expect((await tray(desktop().app))?.toolTip).toMatch(/^Roomdesk: /)
  })

  test('says what needs attention', async () => {
    await desktop().call('nodes.add', { name: 'Hall', kind: 'simulated' })
    await desktop().call('lab.node_trouble', { name: 'Hall', mode: 'offline' })
    await expect.poll(async () => (await inTray('state'))?.label, { timeout: 20_000 }).toMatch(/needs? attention/)
    await desktop().call('nodes.remove', { name: 'Hall' })
  })

  test('opens the window', async () => {
    for (const open of [() => clickTray(desktop().app), () => chooseInTray(desktop().app, 'open')]) {
      await withWindow(desktop().app, 'hide')
      await open()
      await expect.poll(() => windowState(desktop().app)).toMatchObject({ visible: true, focused: true })
    }
  })

  test('restarts the listeners', async () => {
    await desktop().page.evaluate(
      `globalThis.restarts = 0; void roomdesk.onEvent(({ name }) => { if (name === 'listeners.changed') restarts += 1 })`,
    )
    await chooseInTray(desktop().app, 'restart-listeners')
    await expect.poll(() => desktop().page.evaluate('restarts')).toBeGreaterThan(0)
    const answers = async (): Promise<number> => (await fetch(`${await desktop().url('media')}/openapi.json`)).status
    await expect.poll(() => answers().catch(() => 0)).toBe(200)
  })

  test('starts Roomdesk at login, hidden, and the menu shows it', async () => {
    if (process.platform !== 'linux') return
    const entry = join(config(), 'autostart/roomdesk.desktop')
    await chooseInTray(desktop().app, 'start-at-login')
    await expect.poll(() => existsSync(entry)).toBe(true)
    expect(await readFile(entry, 'utf8')).toMatch(/^Exec=.*"--hidden"$/m)
    expect(await inTray('start-at-login')).toMatchObject({ checked: true })
    expect(await inMenu('start-at-login')).toMatchObject({ checked: true })
    await chooseInMenu(desktop().app, 'start-at-login')
    await expect.poll(() => existsSync(entry)).toBe(false)
    expect(await inTray('start-at-login')).toMatchObject({ checked: false })
  })
})

describe('the application menu', () => {
  test('opens every page of the console by a key', async () => {
    const pages = ['Overview', 'Credentials', 'Rooms', 'MCU Nodes', 'Devices', 'Activity', 'API Tester', 'Settings']
    const go = (await applicationMenu(desktop().app)).find(({ label }) => label === 'Go')?.submenu ?? []
    expect(go.map(({ label }) => label)).toEqual(pages)
    expect(go.map(({ accelerator }) => accelerator)).toEqual(pages.map((_page, index) => `CmdOrCtrl+${index + 1}`))
    for (const { id } of [...go].reverse()) {
      await chooseInMenu(desktop().app, id)
      // On an unused site the overview begins with the welcome page.
      const route = id === 'go-overview' ? '#/welcome' : id.replace('go-', '#/')
      await expect.poll(() => desktop().page.evaluate('location.hash')).toBe(route)
    }
  })

  test('shows a hidden window on the chosen page', async () => {
    await withWindow(desktop().app, 'hide')
    await chooseInMenu(desktop().app, 'go-rooms')
    await expect.poll(() => windowState(desktop().app)).toMatchObject({ visible: true })
    await expect.poll(heading).toBe('Rooms')
  })

  test('opens the data folder', async () => {
    const opened = await desktop().app.evaluate(async ({ Menu, shell }) => {
      const { promise, resolve } = Promise.withResolvers<string>()
      Object.assign(shell, { openPath: async (path: string) => resolve(path) })
      Menu.getApplicationMenu()?.getMenuItemById('data-folder')?.click()
      return promise
    })
    expect(opened).toBe(join(desktop().userData, 'site'))
  })

  test('sets the action of closing', async () => {
    await chooseInMenu(desktop().app, 'keep-in-tray')
    await expect.poll(() => inMenu('keep-in-tray')).toMatchObject({ checked: true })
    await withWindow(desktop().app, 'close')
    await expect.poll(() => windowState(desktop().app)).toMatchObject({ visible: false })
    await withWindow(desktop().app, 'show')
  })

  test('keeps the computer awake while users are in a room, unless the operator switches this off', async () => {
    await desktop().app.evaluate(({ powerSaveBlocker }) => {
      const blockers: string[] = []
      const [start, stop] = [
        powerSaveBlocker.start.bind(powerSaveBlocker),
        powerSaveBlocker.stop.bind(powerSaveBlocker),
      ]
      Object.assign(globalThis, { blockers })
      Object.assign(powerSaveBlocker, {
        start: (type: 'prevent-app-suspension') => (blockers.push(type), start(type)),
        stop: (id: number) => (blockers.push('stopped'), stop(id)),
      })
    })
    const blockers = (): Promise<string[]> =>
      desktop().app.evaluate(() => [...(globalThis as unknown as { blockers: string[] }).blockers])
    await desktop().call('nodes.add', { name: 'Awake', kind: 'simulated' })
    const { room_id } = (await desktop().call('rooms.create', { topic: 'Hall' })) as { room_id: string }
    await desktop().call('lab.join', { room_id, user_id: 'somebody', user_name: 'Somebody' })
    await expect.poll(blockers, { timeout: 10_000 }).toEqual(['prevent-app-suspension'])
    await chooseInMenu(desktop().app, 'keep-awake')
    expect(await blockers()).toEqual(['prevent-app-suspension', 'stopped'])
    expect(await inMenu('keep-awake')).toMatchObject({ checked: false })
    await chooseInMenu(desktop().app, 'keep-awake')
    await desktop().call('rooms.delete', { room_ids: [room_id] })
    const all = ['prevent-app-suspension', 'stopped', 'prevent-app-suspension', 'stopped']
    await expect.poll(blockers, { timeout: 10_000 }).toEqual(all)
    await desktop().call('nodes.remove', { name: 'Awake' })
  })

  test('uses the language of the console at once', async () => {
    await desktop().call('settings.set', { console: { language: 'zh' } })
    await expect.poll(async () => (await applicationMenu(desktop().app)).map(({ label }) => label)).toContain('前往')
    await expect.poll(async () => (await inTray('quit'))?.label).toBe('退出 Roomdesk')
    const labels = (items: readonly MenuEntry[]): string[] =>
      items.flatMap(({ label, type, submenu }) => [...(type === 'separator' ? [] : [label]), ...labels(submenu)])
    // Also items that Electron would label by itself, in English.
    expect(labels(await applicationMenu(desktop().app)).filter((label) => !/\p{Script=Han}/u.test(label))).toEqual([])
    await desktop().call('settings.set', { console: { language: 'en' } })
    await expect.poll(async () => (await inTray('quit'))?.label).toBe('Quit Roomdesk')
  })
})
