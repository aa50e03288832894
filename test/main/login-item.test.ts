import { readFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { app } from 'electron'
import { beforeEach, expect, test, vi } from 'vitest'
import { readDesktopLaunch } from '../../main/launch.ts'
import {
  autostartEntry,
  setStartsAtLogin,
  startsAtLogin,
  wasOpenedAtLogin as wasAtLogin,
} from '../../main/login-item.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'

/** Electron's answer for an unchanged item. */
const loginItem = {
  openAtLogin: true,
  openAsHidden: false,
  wasOpenedAtLogin: false,
  wasOpenedAsHidden: false,
  restoreState: false,
  status: 'enabled' as const,
  executableWillLaunchAtLogin: true,
  launchItems: [],
}

let config: string
beforeEach(async () => {
  config = await temporaryFolder()
  vi.stubEnv('XDG_CONFIG_HOME', config)
  vi.stubEnv('APPIMAGE', undefined)
})

test.runIf(process.platform === 'linux')(
  'starting at login writes an autostart entry, and stopping it removes the entry',
  async () => {
    const file = join(config, 'autostart/roomdesk.desktop')
    expect(startsAtLogin()).toBe(false)
    setStartsAtLogin(true)
    expect(startsAtLogin()).toBe(true)
    const entry = await readFile(file, 'utf8')
    expect(entry).toMatch(/^\[Desktop Entry\]\n/)
    expect(entry).toMatch(/^Exec=".*" "--hidden"$/m)
    setStartsAtLogin(false)
    expect(existsSync(file)).toBe(false)
    expect(startsAtLogin()).toBe(false)
  },
)

test.runIf(process.platform === 'linux')('an AppImage is started by its own file', async () => {
  vi.stubEnv('APPIMAGE', '/home/op/Roomdesk.AppImage')
  setStartsAtLogin(true)
  expect(await readFile(join(config, 'autostart/roomdesk.desktop'), 'utf8')).toContain(
    'Exec="/home/op/Roomdesk.AppImage"',
  )
})

test.each([
  ['darwin', true, true],
  ['darwin', false, false],
  // On Windows a login item has its argument.
  ['win32', true, false],
  ['linux', true, false],
] as const)(
  'on %s, opened at login %s, the window is hidden by the system alone: %s',
  (platform, wasOpenedAtLogin, hidden) => {
    vi.spyOn(process, 'platform', 'get').mockReturnValue(platform)
    vi.spyOn(app, 'getLoginItemSettings').mockReturnValue({ ...loginItem, wasOpenedAtLogin })
    expect(readDesktopLaunch([], {}, config, wasAtLogin()).hidden).toBe(hidden)
  },
)

test.each(['win32', 'darwin'] as const)(
  'on %s the system stores it, and finds it again by its arguments',
  (platform) => {
    vi.spyOn(process, 'platform', 'get').mockReturnValue(platform)
    setStartsAtLogin(true)
    expect(startsAtLogin()).toBe(true)
    // Windows treats another command line as another item; macOS ignores arguments.
    expect(app.getLoginItemSettings({ args: [] }).openAtLogin).toBe(platform === 'darwin')
    setStartsAtLogin(false)
    expect(startsAtLogin()).toBe(false)
  },
)

test('a path with spaces, quotes, dollars and percents is one argument', () => {
  const exec = /^Exec=(.*)$/m.exec(autostartEntry(['/opt/Room desk/"50%"/$x\\y', '--hidden']))?.[1]
  expect(exec).toBe(String.raw`"/opt/Room desk/\\"50%%\\"/\\$x\\\\y" "--hidden"`)
})
