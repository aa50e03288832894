import { createRequire } from 'node:module'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { _electron, type ElectronApplication, type Page } from 'playwright-core'
import { built } from '../support/built.ts'

const root = resolve(import.meta.dirname, '../..')
const electronHome = dirname(createRequire(import.meta.url).resolve('electron/package.json'))

/** Tells whether the tests run on Electron itself: if its binary is installed and the stand-in is not requested (`STANDIN=1`); `STANDIN=0` requires Electron. */
export const isGenuine =
  process.env.STANDIN === '0' || (process.env.STANDIN !== '1' && existsSync(join(electronHome, 'path.txt')))

// Playwright finds the program by this variable.
if (!isGenuine) process.env.ELECTRON_OVERRIDE_DIST_PATH = join(root, 'test/standin')

/** Program of Electron, or of the stand-in. */
export const electronExecutable = isGenuine
  ? (createRequire(import.meta.url)('electron') as string)
  : join(root, 'test/standin/electron')

/** A running desktop app with its console. */
export interface Desktop {
  app: ElectronApplication
  /** The console's page. */
  page: Page
  /** Data folder of this user; the site is in its folder `site`. */
  userData: string
  /** Calls a procedure of the console contract like the page. Rejects with the error message. */
  call: (procedure: string, input?: unknown) => Promise<unknown>
  /** Opens a page by its hash, e.g. `#/settings/about`, once the console shows its first one: the router does not hear of it before. */
  open: (hash: string) => Promise<void>
  /** URL of a listener, e.g. `http://127.0.0.1:40123`. */
  url: (listener: 'media' | 'device' | 'node' | 'console' | 'event') => Promise<string>
  /** Reads stderr of the app so far. */
  log: () => string
  /** Quits in order; keeps the data for another launch. */
  quit: () => Promise<void>
  /** Quits, and removes data created for this launch. */
  [Symbol.asyncDispose](): Promise<void>
}

export interface DesktopOptions {
  /** App to start; default: the build of this project. */
  folder?: string
  /** Data of an earlier launch; default: a new temporary folder. */
  userData?: string
  /** Arguments after the app's path, e.g. `--hidden`. */
  args?: readonly string[]
  /** Ports: free ones by flags, which override the settings, or those of the settings. */
  ports?: 'free' | 'settings'
  /** CommonJS files to run in the main process before the app. */
  before?: readonly string[]
  env?: Readonly<Record<string, string>>
}

/** Environment for the stand-in's keychain, unless the run sets one (`STANDIN_KEYCHAIN`). */
export const keychain = (session: 'none' | 'v10' | 'locked' | 'working'): Record<string, string> => ({
  STANDIN_KEYCHAIN: process.env.STANDIN_KEYCHAIN ?? session,
})

/** Environment with a display for windows. The stand-in only looks whether the first variable is set, and for Wayland at the second. */
export const display: Readonly<Record<string, string>> = isGenuine
  ? Object.fromEntries(
      ['DISPLAY', 'WAYLAND_DISPLAY'].flatMap((name) => {
        const value = process.env[name]
        return value === undefined ? [] : [[name, value] as const]
      }),
    )
  : { DISPLAY: ':0', XDG_SESSION_TYPE: 'x11' }

/** Starts the built app on free ports and waits for its first window. */
export async function launch(options: DesktopOptions = {}): Promise<Desktop> {
  if (!existsSync(built('main/main.js'))) throw new Error('dist is missing: run "npm run build" first')
  const userData = options.userData ?? (await mkdtemp(join(tmpdir(), 'roomdesk-desktop-')))
  const app = await startElectron(userData, options)
  let log = ''
  app.process().stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const page = await consoleOf(app).catch(async (error: unknown) => {
    await app.close()
    throw new Error(`the app did not show its console; it wrote:\n${log}`, { cause: error })
  })
  const call = (procedure: string, input: unknown = {}): Promise<unknown> =>
    page.evaluate(callInPage, { procedure, input })
  const quit = async (): Promise<void> => app.close()
  return {
    app,
    page,
    userData,
    call,
    open: async (hash) => {
      await page.locator('main h1').first().waitFor()
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
    },
    url: async (listener) => {
      const overview = (await call('overview.get')) as { listeners: { name: string; url: string }[] }
      const found = overview.listeners.find(({ name }) => name === listener)
      if (found === undefined || found.url === '') throw new Error(`${listener} does not listen`)
      return found.url
    },
    log: () => log,
    quit,
    async [Symbol.asyncDispose]() {
      await quit()
      if (options.userData === undefined) await rm(userData, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function consoleOf(app: ElectronApplication): Promise<Page> {
  const page = await app.firstWindow()
  // The window exists before its page.
  await page.waitForFunction(() => 'roomdesk' in globalThis)
  await page.waitForLoadState()
  return page
}

/** Starts Electron with an app; {@link launch} is for Roomdesk. */
export function startElectron(
  userData: string,
  { folder = root, args = [], ports = 'free', before = [], env = {} }: DesktopOptions,
): Promise<ElectronApplication> {
  const given = new Set(args.map((argument) => argument.split('=')[0]))
  const flags = ports === 'free' ? ['--media-port', '--device-port', '--node-port'] : []
  return _electron.launch({
    args: [
      ...before.flatMap((file) => ['-r', file]),
      folder,
      `--user-data-dir=${userData}`,
      ...flags.filter((flag) => !given.has(flag)).map((flag) => `${flag}=0`),
      ...args,
    ],
    cwd: root,
    env: { ...environment(), ...display, ...english, ...env },
    // Keeps Playwright from setting the colour scheme, which would hide the app's own.
    colorScheme: null,
  })
}

/** Answers all further questions of the app with the button of this index. Resolves to a function that reads the questions. */
export async function answerDialogs(
  app: ElectronApplication,
  response: number,
  checkboxChecked = false,
): Promise<() => Promise<string[]>> {
  await app.evaluate(
    ({ dialog }, answer) => {
      const asked: string[] = []
      Object.assign(globalThis, { asked })
      const showMessageBox = (...values: unknown[]): Promise<unknown> => {
        const options = values.at(-1)
        if (typeof options === 'object' && options !== null && 'message' in options) asked.push(String(options.message))
        return Promise.resolve(answer)
      }
      Object.assign(dialog, { showMessageBox })
    },
    { response, checkboxChecked },
  )
  return () => app.evaluate(() => [...((globalThis as { asked?: string[] }).asked ?? [])])
}

/** Fixes the language of the tests, whatever the system's is. */
const english = { LC_ALL: 'C.UTF-8' }

/** Copies the environment without variables that set the app's ports or data folder. */
function environment(): Record<string, string> {
  const entries = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || name.startsWith('ROOMDESK_') ? [] : [[name, value]],
  )
  return Object.fromEntries(entries) as Record<string, string>
}

/** Runs in the page. */
async function callInPage({ procedure, input }: { procedure: string; input: unknown }): Promise<unknown> {
  const bridge = (globalThis as { roomdesk?: { call: (name: string, input: unknown) => Promise<unknown> } }).roomdesk
  if (bridge === undefined) throw new Error('the page has no bridge')
  const result = (await bridge.call(procedure, input)) as
    | { ok: true; value: unknown }
    | { ok: false; error: { code: string; message: string } }
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`)
  return result.value
}
