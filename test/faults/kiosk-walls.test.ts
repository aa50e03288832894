import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ElectronApplication, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { violations } from '../support/axe.ts'
import { chooseInMenu } from '../e2e/around-the-page.ts'
import { type Desktop, isGenuine, launch } from '../e2e/desktop.ts'

/** Methods of the stand-in's screen that Electron does not have. */
interface PluggedScreen {
  _plug: (place: number, id?: number) => void
  _unplug: (id: number) => void
  _swap: (one: number, other: number) => void
}

interface Wall {
  url: string
  x: number
  visible: boolean
}

/** Reads the walls from left to right. */
const walls = (app: ElectronApplication): Promise<Wall[]> =>
  app.evaluate(({ BrowserWindow }) =>
    BrowserWindow.getAllWindows()
      .filter((window) => window.isKiosk())
      .map((window) => {
        const { x, width, height } = window.getBounds()
        if (width !== 1920 || height !== 1080 || !window.isFullScreen())
          throw new Error('a wall does not cover its display')
        return { url: window.webContents.getURL(), x, visible: window.isVisible() }
      })
      .toSorted((one, other) => one.x - other.x),
  )

const consoleIsVisible = (app: ElectronApplication): Promise<boolean> =>
  app.evaluate(({ BrowserWindow }) =>
    BrowserWindow.getAllWindows().some((window) => !window.isKiosk() && window.isVisible()),
  )

/** Presses keys on the wall that has the focus, or on the first one. */
const press = (app: ElectronApplication, keyCode: string, modifiers: ('control' | 'alt')[] = []): Promise<void> =>
  app.evaluate(
    ({ BrowserWindow }, given) => {
      const wall = BrowserWindow.getAllWindows().find((window) => window.isKiosk())
      wall?.webContents.sendInputEvent({ type: 'keyDown', ...given })
      wall?.webContents.sendInputEvent({ type: 'keyUp', ...given })
    },
    { keyCode, modifiers },
  )

const withScreen = (app: ElectronApplication, act: 'plug' | 'unplug', place: number, id = place): Promise<void> =>
  app.evaluate(
    ({ screen }, given) => {
      const plugged = screen as unknown as PluggedScreen
      if (given.act === 'plug') plugged._plug(given.place, given.id)
      else plugged._unplug(given.id)
    },
    { act, place, id },
  )

/** Kinds of sleep that the app prevents now. */
const prevented = (app: ElectronApplication): Promise<string[]> =>
  app.evaluate(() => [...(globalThis as unknown as { prevented: Map<number, string> }).prevented.values()])

async function noteSleep(app: ElectronApplication): Promise<void> {
  await app.evaluate(({ powerSaveBlocker }) => {
    const kinds = new Map<number, string>()
    Object.assign(globalThis, { prevented: kinds })
    const { start, stop } = powerSaveBlocker
    Object.assign(powerSaveBlocker, {
      start: (kind: Parameters<typeof start>[0]) => {
        const id = start(kind)
        kinds.set(id, kind)
        return id
      },
      stop: (id: number) => {
        kinds.delete(id)
        return stop(id)
      },
    })
  })
}

/** Notes windows that are visible before their pages have painted. */
const noteVisible = (app: ElectronApplication): Promise<void> =>
  app.evaluate(({ app: running }) => {
    const empty: number[] = []
    Object.assign(globalThis, { empty })
    running.on('browser-window-created', (_event, window) => {
      const look = setInterval(() => {
        if (!window.isDestroyed() && window.isVisible()) empty.push(window.id)
      }, 1)
      window.once('ready-to-show', () => clearInterval(look))
      window.once('closed', () => clearInterval(look))
    })
  })

const seenEmpty = (app: ElectronApplication): Promise<number[]> =>
  app.evaluate(() => (globalThis as unknown as { empty: number[] }).empty)

/** The page of the wall that shows a view. */
async function pageOf(app: ElectronApplication, view: string): Promise<Page> {
  const find = (): Page | undefined => app.windows().find((page) => page.url().endsWith(`#/kiosk/${view}`))
  await expect.poll(() => find() !== undefined).toBe(true)
  const page = find()
  if (page === undefined) throw new Error(`no wall shows ${view}`)
  return page
}

// Only the stand-in has displays that a test plugs.
describe.skipIf(isGenuine)('walls on two displays', () => {
  let userData: string
  let config: string
  let desktop: Desktop
  const views: Record<string, string> = {}
  const start = (args: string[]): Promise<Desktop> =>
    launch({ userData, args, env: { STANDIN_DISPLAYS: '2', XDG_CONFIG_HOME: config } })

  beforeAll(async () => {
    userData = await mkdtemp(join(tmpdir(), 'roomdesk-walls-'))
    config = await mkdtemp(join(tmpdir(), 'roomdesk-config-'))
    desktop = await start([])
    await noteSleep(desktop.app)
    for (const name of ['Entrance', 'Car park']) {
      const items = ['gate', 'lobby', 'ramp'].map((id) => ({ kind: 'camera', id: `${name} ${id}` }))
      const { id } = (await desktop.call('wall.save', { name, items })) as { id: string }
      views[name] = id
    }
  })
  afterAll(async () => {
    await desktop.quit()
    for (const folder of [userData, config]) await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  test('the operator chooses a view for each display in the settings, and walls at login', async () => {
    const { page } = desktop
    await desktop.open('#/settings/displays')
    const card = page.getByRole('form', { name: 'Wall displays' })
    await card.getByText('1920 × 1080 · main display').waitFor()
    for (const [display, view] of [
      ['Display 1', 'Entrance'],
      ['Display 2', 'Car park'],
    ] as const) {
      await card.getByLabel(display).selectOption(view)
    }
    await card.getByText('Open at login').click()
    await card.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Wall displays saved').waitFor()
    expect(await violations(page)).toEqual([])
    expect(await readFile(join(config, 'autostart/roomdesk.desktop'), 'utf8')).toContain('"--hidden"')
    expect(await walls(desktop.app)).toEqual([])
  })

  test('each display gets its wall, which says how to leave it, keeps the display on and covers the console', async () => {
    const { app, page } = desktop
    await noteVisible(app)
    await page.getByRole('button', { name: 'Open the walls now' }).click()
    await expect
      .poll(() => walls(app))
      .toMatchObject([
        { url: `app://roomdesk/index.html#/kiosk/${views.Entrance}`, x: 0, visible: true },
        { url: `app://roomdesk/index.html#/kiosk/${views['Car park']}`, x: 1920, visible: true },
      ])
    const wall = await pageOf(app, views.Entrance ?? '')
    await wall.getByText('to close the walls').waitFor()
    await wall.getByText('Entrance gate').waitFor()
    // A window without a page is a black display.
    expect(await seenEmpty(app)).toEqual([])
    // Nothing of the console stands around it.
    expect(await wall.getByRole('navigation').count()).toBe(0)
    expect(await violations(wall)).toEqual([])
    expect(await prevented(app)).toEqual(['prevent-display-sleep'])
    expect(await consoleIsVisible(app)).toBe(false)
  })

  test('the page of a wall has the rights of a viewer, behind the same guards as the console', async () => {
    const wall = await pageOf(desktop.app, views.Entrance ?? '')
    const call = (name: string, input: object): Promise<unknown> =>
      wall.evaluate(`roomdesk.call('${name}', ${JSON.stringify(input)})`)
    expect(await call('account.me', {})).toMatchObject({ ok: true, value: { role: 'viewer' } })
    expect(await call('wall.remove', { id: views.Entrance })).toMatchObject({ ok: false, error: { code: 'forbidden' } })
    await expect(wall.evaluate(`roomdesk.callApp('walls.choose', { walls: [], at_login: false })`)).rejects.toThrow(
      'Only the console may call',
    )
    await wall.evaluate(`location.href = 'https://example.invalid/'`)
    const preferences = await desktop.app.evaluate(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows().map((window) =>
        // Missing in Electron's types.
        (window.webContents as unknown as { getLastWebPreferences: () => object }).getLastWebPreferences(),
      ),
    )
    expect(preferences[1]).toEqual({ ...preferences[0], partition: expect.any(String) as string })
    expect((await walls(desktop.app))[0]?.url).toContain('app://roomdesk/')
  })

  test('shortcuts of the app and closing do nothing on a wall', async () => {
    const { app } = desktop
    for (const key of ['Q', 'R', 'W']) await press(app, key, ['control'])
    await app.evaluate(({ BrowserWindow }) => {
      for (const window of BrowserWindow.getAllWindows()) if (window.isKiosk()) window.close()
    })
    expect(await walls(app)).toHaveLength(2)
  })

  test('a display that is unplugged loses its wall, and has it again when it comes back, also under another id', async () => {
    const { app, page } = desktop
    await withScreen(app, 'unplug', 2)
    await expect.poll(() => walls(app)).toMatchObject([{ x: 0 }])
    await page.getByText('not connected').waitFor({ state: 'attached' })
    await withScreen(app, 'plug', 2, 77)
    await expect.poll(() => walls(app)).toMatchObject([{ x: 0 }, { x: 1920, visible: true }])
    await (await pageOf(app, views['Car park'] ?? '')).getByText('Car park gate').waitFor()
  })

  test('walls follow displays that exchange their places', async () => {
    const { app } = desktop
    const urlOf = (name: string): string => `app://roomdesk/index.html#/kiosk/${views[name]}`
    const [entrance, carPark] = [urlOf('Entrance'), urlOf('Car park')]
    const swap = (other: number): Promise<void> =>
      app.evaluate(({ screen }, id) => (screen as unknown as PluggedScreen)._swap(1, id), other)
    await swap(77)
    await expect
      .poll(() => walls(app))
      .toMatchObject([
        { url: carPark, visible: true },
        { url: entrance, visible: true },
      ])
    await swap(77)
    await expect
      .poll(() => walls(app))
      .toMatchObject([
        { url: entrance, visible: true },
        { url: carPark, visible: true },
      ])
  })

  test('a page that crashes is reloaded without a prompt', async () => {
    const { app } = desktop
    const reloaded = app.evaluate(async ({ BrowserWindow }) => {
      const contents = BrowserWindow.getAllWindows().find((window) => window.isKiosk())?.webContents
      if (contents === undefined) throw new Error('no wall')
      const loaded = new Promise<void>((resolve) => contents.once('did-finish-load', () => resolve()))
      contents.forcefullyCrashRenderer()
      await loaded
      return contents.isCrashed()
    })
    expect(await reloaded).toBe(false)
    expect(await walls(app)).toHaveLength(2)
  })

  test('a view that is deleted says so on its wall', async () => {
    const { undo } = (await desktop.call('wall.remove', { id: views['Car park'] })) as { undo: string }
    const wall = await pageOf(desktop.app, views['Car park'] ?? '')
    await wall.getByText('This view of the wall was deleted').waitFor()
    await desktop.call('wall.restore', { undo })
    await wall.getByText('Car park ramp').waitFor()
  })

  test('a page that hangs is ended and reloaded within half a minute', async () => {
    const { app } = desktop
    const wall = await pageOf(app, views['Car park'] ?? '')
    const mended = app.evaluate(async ({ webContents }, id) => {
      const contents = webContents.getAllWebContents().find((one) => one.getURL().endsWith(id))
      if (contents === undefined) throw new Error('no wall')
      await new Promise<void>((resolve) => contents.once('render-process-gone', () => resolve()))
      await new Promise<void>((resolve) => contents.once('did-finish-load', () => resolve()))
    }, views['Car park'] ?? '')
    // It never answers.
    void wall.evaluate('for (;;);').catch(() => undefined)
    await mended
    expect(await walls(app)).toHaveLength(2)
  })

  test('the keyboard alone leaves the walls and opens the console; the display may sleep again', async () => {
    const { app } = desktop
    await press(app, 'Q', ['control', 'alt'])
    await expect.poll(() => walls(app)).toEqual([])
    await expect.poll(() => consoleIsVisible(app)).toBe(true)
    expect(await prevented(app)).toEqual([])
    // The same keys while another program has the focus.
    await chooseInMenu(app, 'walls')
    await expect.poll(() => walls(app)).toHaveLength(2)
    await app.evaluate(({ globalShortcut }) => {
      const keys = globalShortcut as unknown as { _press: (accelerator: string) => void }
      keys._press('Control+Alt+Q')
    })
    await expect.poll(() => walls(app)).toEqual([])
  })

  test.each([
    ['at login', '--hidden'],
    ['by its flag', '--kiosk'],
  ])('started %s, the app opens them and no window beside', async (_way, flag) => {
    await desktop.quit()
    desktop = await start([flag])
    await expect.poll(() => walls(desktop.app)).toMatchObject([{ x: 0 }, { x: 1920 }])
    expect(await consoleIsVisible(desktop.app)).toBe(false)
  })
})

describe.skipIf(isGenuine)('walls on Wayland, where no program can read the position of its windows', () => {
  test('the console stays where it is, also on another display than the wall', async () => {
    await using desktop = await launch({ env: { STANDIN_DISPLAYS: '2', XDG_SESSION_TYPE: 'wayland' } })
    const { id: view } = (await desktop.call('wall.save', {
      name: 'Entrance',
      items: [{ kind: 'camera', id: 'gate' }],
    })) as { id: string }
    const choice = {
      walls: [{ display: { id: 1, label: 'Display 1', width: 1920, height: 1080 }, view }],
      at_login: false,
    }
    await desktop.page.evaluate(`roomdesk.callApp('walls.choose', ${JSON.stringify(choice)})`)
    await desktop.page.evaluate(`roomdesk.callApp('walls.open', {})`)
    await pageOf(desktop.app, view)
    expect(await consoleIsVisible(desktop.app)).toBe(true)
    // The page Readiness says what helps.
    await desktop.open('#/readiness')
    await desktop.page.getByText('start it with roomdesk --ozone-platform=x11').waitFor()
    expect(await violations(desktop.page)).toEqual([])
  })
})
