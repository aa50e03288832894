import { expect, test } from 'vitest'
import { type PowerFacts, powerCheck } from '../../main/power-check.ts'
import type { Finding } from '../../server/readiness/readiness.ts'
import type { SystemTool } from '../../server/readiness/system-tool.ts'

/** A system whose programs give these answers, by program or by program and last parameter; others are not installed. */
const systemWith =
  (answers: Readonly<Record<string, string>>): SystemTool =>
  async (program, parameters) =>
    answers[`${program} ${parameters.at(-1)}`] ?? answers[program]

const of = async (
  platform: NodeJS.Platform,
  answers: Readonly<Record<string, string>>,
  facts: Partial<PowerFacts> = {},
): Promise<Finding> =>
  await powerCheck({
    ...{ keepsAwake: () => true, isOnBattery: () => false, tool: systemWith(answers), desktop: 'GNOME', ...facts },
    platform,
  })(AbortSignal.timeout(10_000))

/** Answer of `powercfg /q SCHEME_CURRENT SUB_SLEEP STANDBYIDLE` of Windows 11, with the time on mains and on battery. */
const powercfg = (mains: string, labels = ['Current AC Power Setting Index', 'Current DC Power Setting Index']) =>
  `Power Scheme GUID: 381b4222-f694-41f0-9685-ff5bb260df2e  (Balanced)
  GUID Alias: SCHEME_BALANCED
  Subgroup GUID: 238c9fa8-0aad-41ed-83f4-97be242c8f20  (Sleep)
    GUID Alias: SUB_SLEEP
    Power Setting GUID: 29f6c1db-86da-48c5-9fdb-f2b67b1f44da  (Sleep after)
      GUID Alias: STANDBYIDLE
      Minimum Possible Setting: 0x00000000
      Maximum Possible Setting: 0xffffffff
      Possible Settings increment: 0x00000001
      Possible Settings units: Seconds
    ${labels[0]}: ${mains}
    ${labels[1]}: 0x00000384

`.replaceAll('\n', '\r\n')

/** Answer of `pmset -g` of macOS 15. */
const pmset = (sleep: string, disabled = 0) => `System-wide power settings:
 SleepDisabled\t\t${disabled}
Currently in use:
 standby              1
 Sleep On Power Button 1
 hibernatefile        /var/vm/sleepimage
 powernap             1
 networkoversleep     0
 disksleep            10
 sleep                ${sleep}
 hibernatemode        3
 ttyskeepawake        1
 displaysleep         10
 tcpkeepalive         1
`

const awake = { finding: 'powerAwake', values: {} }
const sleeps = (minutes: number) => ({ finding: 'powerIdleSleeps', values: { minutes } })
const unknown = { finding: 'powerUnknown', values: {} }

test('Windows says after how many seconds on mains it sleeps, in every language', async () => {
  expect(await of('win32', { 'powercfg.exe': powercfg('0x00000708') })).toEqual(sleeps(30))
  expect(await of('win32', { 'powercfg.exe': powercfg('0x00000000') })).toEqual(awake)
  const german = ['Index der aktuellen Wechselstromeinstellung', 'Index der aktuellen Gleichstromeinstellung']
  expect(await of('win32', { 'powercfg.exe': powercfg('0x00000e10', german) })).toEqual(sleeps(60))
  expect(await of('win32', { 'powercfg.exe': 'Invalid Parameters -- try "/?" for help\r\n' })).toEqual(unknown)
  expect(await of('win32', {})).toEqual(unknown)
})

test('macOS says after how many minutes it sleeps, or that it does not', async () => {
  expect(await of('darwin', { pmset: pmset('1') })).toEqual(sleeps(1))
  expect(await of('darwin', { pmset: pmset('10 (sleep prevented by powerd, Roomdesk)') })).toEqual(sleeps(10))
  expect(await of('darwin', { pmset: pmset('0') })).toEqual(awake)
  expect(await of('darwin', { pmset: pmset('1', 1) })).toEqual(awake)
  expect(await of('darwin', {})).toEqual(unknown)
})

test('Linux sleeps as its session manager or GNOME says, and not while that is masked', async () => {
  const idle = { 'busctl IdleAction': 's "suspend"\n', 'busctl IdleActionUSec': 't 1800000000\n' }
  const ignored = { ...idle, 'busctl IdleAction': 's "ignore"\n' }
  const gnome = (type: string, seconds: number) => ({
    ...ignored,
    systemctl: 'static\n',
    'gsettings sleep-inactive-ac-type': `'${type}'\n`,
    'gsettings sleep-inactive-ac-timeout': `${seconds}\n`,
  })
  expect(await of('linux', { systemctl: 'masked\n', ...idle })).toEqual(awake)
  expect(await of('linux', { systemctl: 'static\n', ...idle })).toEqual(sleeps(30))
  expect(await of('linux', { systemctl: 'static\n', ...idle, 'busctl IdleAction': 's "lock"\n' })).toEqual(unknown)
  expect(await of('linux', gnome('suspend', 900))).toEqual(sleeps(15))
  expect(await of('linux', gnome('nothing', 900))).toEqual(awake)
  expect(await of('linux', gnome('suspend', 0))).toEqual(awake)
  // Ubuntu names itself beside GNOME; the settings of GNOME say nothing about another desktop.
  expect(await of('linux', gnome('suspend', 900), { desktop: 'ubuntu:GNOME' })).toEqual(sleeps(15))
  expect(await of('linux', gnome('nothing', 900), { desktop: 'KDE' })).toEqual(unknown)
  expect(await of('linux', {})).toEqual(unknown)
})

test('a tool that fails leaves the policy unchecked; a time limit ends the check', async () => {
  const failing: SystemTool = async (program) => await Promise.reject(new Error(`${program} failed`))
  for (const platform of ['win32', 'darwin', 'linux'] as const)
    expect(await of(platform, {}, { tool: failing })).toEqual(unknown)
  const late = powerCheck({ keepsAwake: () => true, isOnBattery: () => false, tool: failing, platform: 'darwin' })
  await expect(late(AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late')
})

test('the own switch and the battery come before the policy, unless the system never sleeps', async () => {
  const [never, soon] = [{ pmset: pmset('0') }, { pmset: pmset('5') }]
  const off = { keepsAwake: () => false }
  expect(await of('darwin', soon, off)).toMatchObject({ finding: 'powerSleeps' })
  expect(await of('darwin', {}, off)).toMatchObject({ finding: 'powerSleeps' })
  expect(await of('darwin', never, off)).toEqual(awake)
  expect(await of('darwin', never, { isOnBattery: () => true })).toMatchObject({ finding: 'powerBattery' })
})
