import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { app, powerMonitor, safeStorage, screen } from 'electron'
import { expect, test, vi } from 'vitest'
import { desktopChecks, trayCheck } from '../../main/desktop-checks.ts'
import type { Check } from '../../server/readiness/readiness.ts'
import { type SystemTool, systemTool } from '../../server/readiness/system-tool.ts'
import { isGenuine } from '../e2e/desktop.ts'
import { onSystem } from '../support/on-system.ts'

const run = async (check: Check | undefined) => await check?.(AbortSignal.timeout(10_000))

const operator = { sandbox: 'on', key: { protection: 'system' }, keepsAwake: () => true, walls: () => 2 } as const

test.skipIf(process.platform !== 'linux')(
  'a desktop session whose panel shows no icons says so; without a session nothing is known',
  async () => {
    vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', 'unix:path=/nonexistent/bus')
    vi.stubEnv('XDG_RUNTIME_DIR', '/nonexistent')
    expect((await run(trayCheck(systemTool)))?.finding).toBe('trayUnknown')

    const bus = spawn('dbus-daemon', ['--session', '--nofork', '--print-address'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    try {
      const [address] = (await once(createInterface(bus.stdout), 'line')) as [string]
      vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', address)
      expect((await run(trayCheck(systemTool)))?.finding).toBe('trayMissing')
    } finally {
      bus.kill()
      await once(bus, 'exit')
    }
  },
)

test('any of three programs can tell that icons are shown; Windows and macOS always show them', async () => {
  const answers = { 'dbus-send': '   boolean true\n', gdbus: '(true,)\n', busctl: 'b true\n' }
  for (const [installed, answer] of Object.entries(answers)) {
    const tool = async (program: string) => (program === installed ? answer : undefined)
    expect([installed, (await run(trayCheck(tool, 'linux')))?.finding]).toEqual([installed, 'trayShown'])
  }
  for (const platform of ['win32', 'darwin'] as const)
    expect((await run(trayCheck(async () => undefined, platform)))?.finding).toBe('trayShown')
})

test('a key without a keychain names what the session has instead', async () => {
  expect(await run(desktopChecks(operator).key)).toMatchObject({ finding: 'keyKeychain' })
  if (!isGenuine) vi.spyOn(safeStorage, 'getSelectedStorageBackend').mockReturnValue('basic_text')
  const plain = await run(desktopChecks({ ...operator, key: { protection: 'file' } }).key)
  expect(plain).toMatchObject({ finding: 'keyPlain', values: { backend: 'basic_text' } })
})

test('power: it may sleep, runs on its battery, or stays awake', async () => {
  // A system that never sleeps, in the words of each of the three.
  const never: Record<string, string> = {
    'powercfg.exe': ': 0x00000000\n: 0x00000000',
    pmset: ' sleep 0\n',
    systemctl: 'masked',
  }
  const neverSleeps = async (program: string): Promise<string | undefined> => never[program]
  const saysNothing = async (): Promise<undefined> => undefined
  const of = async (keepsAwake: boolean, tool: SystemTool = keepsAwake ? neverSleeps : saysNothing) =>
    (await run(desktopChecks({ ...operator, keepsAwake: () => keepsAwake, tool }).power))?.finding
  expect(await of(false)).toBe('powerSleeps')
  expect(await of(true)).toBe('powerAwake')
  expect(await of(true, saysNothing)).toBe('powerUnknown')
  vi.spyOn(powerMonitor, 'isOnBatteryPower').mockReturnValue(true)
  expect(await of(true)).toBe('powerBattery')
})

test('pages without a sandbox are reported', async () => {
  expect((await run(desktopChecks(operator).sandbox))?.finding).toBe('sandboxOn')
  expect((await run(desktopChecks({ ...operator, sandbox: 'off' }).sandbox))?.finding).toBe('sandboxOff')
})

test.skipIf(isGenuine)(
  'a desktop that places no windows is reported where walls could open on several displays',
  async () => {
    onSystem('linux')
    const of = async (walls: number, displays = 1) => {
      vi.spyOn(screen, 'getAllDisplays').mockReturnValue(
        Array.from({ length: displays }, () => screen.getPrimaryDisplay()),
      )
      return (await run(desktopChecks({ ...operator, walls: () => walls }).walls))?.finding
    }
    expect(await of(2)).toBe('wallsPlaced')
    vi.spyOn(app.commandLine, 'getSwitchValue').mockReturnValue('wayland')
    // Also while a display is unplugged.
    expect(await of(2)).toBe('wallsUnplaced')
    expect(await of(1, 2)).toBe('wallsUnplaced')
    expect(await of(1)).toBe('wallsPlaced')
    expect(await of(0, 2)).toBe('wallsPlaced')
    // Other systems place windows.
    onSystem('win32')
    expect(desktopChecks(operator)).not.toHaveProperty('walls')
  },
)
