import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { expect, test, vi } from 'vitest'
import { electronExecutable, isGenuine, startElectron } from './desktop.ts'
import { shared, sharedFolder } from '../support/fixtures.ts'

/** Behaviour of Electron that Roomdesk's shell relies on. The stand-in must behave the same: on Electron itself these tests verify the stand-in. */
const folder = sharedFolder()
const electron = shared(
  async () => {
    const electron = await startElectron(folder(), {
      folder: join(import.meta.dirname, 'facts-app'),
      ports: 'settings',
      // A language without files of its own.
      env: { LC_ALL: 'zh_HK.UTF-8', LANGUAGE: '' },
    })
    await electron.evaluate(({ app }) => app.whenReady().then(() => undefined))
    return electron
  },
  (electron) => electron.close(),
)

/** Opens a separate window with the app's page. */
const openPage = (): Promise<number> =>
  electron().evaluate(async ({ BrowserWindow }) => {
    for (const other of BrowserWindow.getAllWindows()) other.destroy()
    const { preload } = globalThis as unknown as { preload: string }
    const window = new BrowserWindow({
      show: false,
      webPreferences: { preload, sandbox: true, contextIsolation: true },
    })
    await window.loadURL('app://facts/index.html')
    return window.id
  })

test('maximizing a hidden window shows it before its page has painted', async () => {
  const told = await electron().evaluate(({ BrowserWindow }) => {
    const window = new BrowserWindow({ show: false })
    const before = window.isVisible()
    window.maximize()
    const after = window.isVisible()
    window.destroy()
    return [before, after]
  })
  expect(told).toEqual([false, true])
})

test.runIf(process.platform === 'linux')(
  'the command line names the windowing system, also where the session chose it',
  async () => {
    const platform = await electron().evaluate(({ app }) => app.commandLine.getSwitchValue('ozone-platform'))
    expect(platform).toMatch(/^(x11|wayland)$/)
  },
)

test.runIf(process.platform === 'linux')(
  'a hidden window is shown when it becomes a kiosk or a full screen',
  async () => {
    const told = await electron().evaluate(({ BrowserWindow }) => {
      const kiosk = new BrowserWindow({ show: false, kiosk: true })
      const full = new BrowserWindow({ show: false })
      full.setFullScreen(true)
      const later = new BrowserWindow({ show: false })
      later.setKiosk(true)
      const seen = [kiosk, full, later].map((window) => window.isVisible())
      for (const window of [kiosk, full, later]) window.destroy()
      return seen
    })
    expect(told).toEqual([true, true, true])
  },
)

test('a role of a menu item has an English label in every language', async () => {
  const labels = await electron().evaluate(({ Menu }) => {
    const roles = ['reload', 'togglefullscreen', 'zoomIn', 'resetZoom', 'editMenu'] as const
    const menu = Menu.buildFromTemplate(roles.map((role) => ({ role })))
    return menu.items.flatMap(({ label, submenu }) => [label, ...(submenu?.items ?? []).map((item) => item.label)])
  })
  expect(labels).toEqual(
    expect.arrayContaining(['Reload', 'Toggle Full Screen', 'Zoom In', 'Actual Size', 'Edit', 'Undo']),
  )
})

test.runIf(process.platform === 'linux')(
  "the locale is one with files; the system's preferred languages are separate",
  async () => {
    const told = await electron().evaluate(({ app }) => [app.getLocale(), app.getPreferredSystemLanguages()[0]])
    expect(told).toEqual(['zh-TW', 'zh-HK'])
  },
)

test('a page sees the permissions of the check handler, not those of the request handler', async () => {
  const asked = await electron().evaluate(({ session }) => {
    const checks: string[] = []
    Object.assign(globalThis, { checks })
    session.defaultSession.setPermissionRequestHandler((_contents, _permission, answer) => answer(false))
    session.defaultSession.setPermissionCheckHandler((_contents, permission, origin) => {
      checks.push(origin)
      return permission === 'clipboard-sanitized-write'
    })
    return checks
  })
  expect(asked).toEqual([])
  await openPage()
  const states = await inPage(
    `Promise.all(['clipboard-write', 'clipboard-read', 'geolocation'].map(async (name) => (await navigator.permissions.query({ name })).state))`,
  )
  expect(states).toEqual(['granted', 'denied', 'denied'])
  const checks = await electron().evaluate(() => (globalThis as unknown as { checks: string[] }).checks)
  expect(checks).toContain('app://facts/')
})

test('the frame of a call is gone once its page has navigated, even during the call', async () => {
  await openPage()
  const { before, after } = await electron().evaluate(async ({ BrowserWindow, ipcMain }) => {
    const [window] = BrowserWindow.getAllWindows()
    const { promise, resolve } = Promise.withResolvers<{ before: unknown; after: unknown }>()
    ipcMain.handle('slow', async (event) => {
      const first = event.senderFrame?.url
      const loaded = Promise.withResolvers<undefined>()
      window?.webContents.once('did-finish-load', () => loaded.resolve(undefined))
      window?.webContents.reload()
      await loaded.promise
      resolve({ before: first, after: event.senderFrame })
    })
    void window?.webContents.executeJavaScript(`void ask('slow')`)
    return promise
  })
  expect(before).toBe('app://facts/index.html')
  expect(after).toBeNull()
})

test('a download is written to the path that the app sets, and reports its end', async () => {
  await openPage()
  const target = join(folder(), 'kept', 'notes.txt')
  const told = electron().evaluate(({ session }, path) => {
    const { promise, resolve } = Promise.withResolvers<string[]>()
    session.defaultSession.once('will-download', (_event, item) => {
      item.setSavePath(path)
      item.once('done', (_done, state) => resolve([item.getFilename(), state]))
    })
    return promise
  }, target)
  await inPage(`document.querySelector('#save').click()`)
  expect(await told).toEqual(['notes.txt', 'completed'])
  expect(await readFile(target, 'utf8')).toBe('kept')
})

// On Electron a person sees the dialog, and the test would wait for them.
test.skipIf(isGenuine)('a download without a path opens a dialog, and is cancelled with it', async () => {
  await openPage()
  const told = electron().evaluate(({ session }) => {
    const { promise, resolve } = Promise.withResolvers<string>()
    session.defaultSession.once('will-download', (_event, item) => {
      item.once('done', (_done, state) => resolve(state))
    })
    return promise
  })
  await inPage(`document.querySelector('#save').click()`)
  expect(await told).toBe('cancelled')
})

test('the paths of session and crash reports follow that of the user, which must be absolute', async () => {
  const other = join(folder(), 'other')
  const told = await electron().evaluate(({ app }, path) => {
    const before = app.getPath('userData')
    app.setPath('userData', path)
    const followers = [app.getPath('sessionData'), app.getPath('crashDumps')]
    app.setPath('userData', before)
    try {
      app.setPath('userData', 'here')
      return [...followers, 'taken']
    } catch (error) {
      return [...followers, String(error)]
    }
  }, other)
  expect(told).toEqual([other, join(other, 'Crashpad'), expect.stringContaining('Path must be absolute')])
})

test('an unhandled rejection does not end the main process', async () => {
  await electron().evaluate(() => void Promise.reject(new Error('nobody handles this')))
  expect(await electron().evaluate(({ app }) => app.getName())).toBe('Facts')
})

/** Runs the app without a driver and without a display. */
async function runAlone(...switches: string[]): Promise<{ code: unknown; written: string; errors: string }> {
  const app = join(import.meta.dirname, 'facts-app')
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const child = spawn(
    electronExecutable,
    [app, '--facts-alone', `--user-data-dir=${folder()}/alone`, ...asRoot, ...switches],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, DISPLAY: undefined, WAYLAND_DISPLAY: undefined },
    },
  )
  const ended = once(child, 'exit')
  const [written, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: (await ended)[0], written, errors }
}

test.runIf(process.platform === 'linux')(
  'without a display it ends once the main module was evaluated; a switch helps that was there from the start, not an appended one',
  async () => {
    const lost = await runAlone()
    expect([lost.code, lost.written]).toEqual([1, 'evaluated\n'])
    expect(lost.errors).toContain('Missing X server or $DISPLAY')
    expect(await runAlone('--ozone-platform=headless')).toMatchObject({ code: 0, written: 'evaluated\nready\n' })
  },
)

test.runIf(process.platform === 'win32' || !isGenuine)(
  'on Windows it ends without a word where an argument follows one that begins like a URL; `--flag=value` does not',
  async () => {
    vi.stubEnv('STANDIN_SYSTEM', 'windows')
    const headless = '--ozone-platform=headless'
    const refused = await runAlone(headless, '--store', 'postgres://db/site', '--hidden')
    expect([refused.written, refused.errors]).toEqual(['', ''])
    // -1, of which Linux keeps eight bits.
    expect([4_294_967_295, 255]).toContain(refused.code)
    for (const taken of [
      ['--store=postgres://db/site', '--hidden'],
      ['--data-dir', 'D:\\site', '--hidden'],
    ])
      expect(await runAlone(headless, ...taken)).toMatchObject({ code: 0, written: 'evaluated\nready\n' })
    vi.unstubAllEnvs()
  },
)

/** Evaluates in the page through the app: its window is hidden, so that no driver waits for it to paint. */
function inPage(expression: string): Promise<unknown> {
  return electron().evaluate(
    ({ BrowserWindow }, text): Promise<unknown> | undefined =>
      BrowserWindow.getAllWindows()[0]?.webContents.executeJavaScript(text, true),
    expression,
  )
}
