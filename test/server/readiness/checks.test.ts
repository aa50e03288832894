import { once } from 'node:events'
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { clockCheck } from '../../../server/readiness/clock-checks.ts'
import { findProgram } from '../../../server/nodes/embedded/ffmpeg/ffmpeg-program.ts'
import { diskCheck, spaceCheck } from '../../../server/readiness/disk-check.ts'
import { encryptionCheck, ffmpegCheck, keyFileCheck } from '../../../server/readiness/machine-checks.ts'
import { type Check, type Finding, sentencesOf } from '../../../server/readiness/readiness.ts'
import { firewallCheck } from '../../../server/readiness/firewall-check.ts'
import { portCheck } from '../../../server/readiness/port-checks.ts'
import { type SystemTool, systemTool } from '../../../server/readiness/system-tool.ts'
import { lanAddresses } from '../../../server/edge/network-addresses.ts'
import { type FindingName, readinessFindings } from '../../../shared/console/readiness-findings.ts'
import { defaultSettings } from '../../../shared/settings.ts'
import { placeholders } from '../../../shared/refusals/template.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'
import sentences from '../../../texts/en/console/readinessFindings.json' with { type: 'json' }

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder()
})

const run = async (check: Check): Promise<Finding> => await check(AbortSignal.timeout(20_000))

/** A system whose programs give these answers; others are not installed. */
const systemWith =
  (answers: Readonly<Record<string, string>>): SystemTool =>
  async (program) =>
    answers[program]

test('every finding has its sentences, and findings that need attention say what to do', () => {
  for (const [name, { state, values }] of Object.entries(readinessFindings)) {
    const { message, advice } = sentences[name as FindingName]
    expect([name, new Set(placeholders(message + advice))]).toEqual([name, new Set<string>(values)])
    expect([name, message === '']).toEqual([name, false])
    if (state === 'attention') expect([name, advice === '']).toEqual([name, false])
    if (state === 'good') expect([name, advice]).toEqual([name, ''])
  }
})

describe('disk', () => {
  test('measures durable writes, reports how long they took, and leaves nothing behind', async () => {
    const result = await run(diskCheck(folder))
    expect(['diskFast', 'diskSlow']).toContain(result.finding)
    const { median_ms, worst_ms, count } = result.values
    expect(count).toBeGreaterThan(0)
    expect(Number(worst_ms)).toBeGreaterThanOrEqual(Number(median_ms))
    const { message } = sentencesOf(result)
    expect(message).toMatch(/takes [\d.]+ ms, [\d.]+ ms at worst/)
    expect(placeholders(message)).toEqual([])
    expect(await readdir(folder)).toEqual([])
  })

  test('a folder that is not writable is reported with the reason', async () => {
    const result = await run(diskCheck(join(folder, 'missing')))
    expect(result.finding).toBe('diskRefused')
    expect(result.values.reason).toMatch(/ENOENT/)
  })

  test('free space is that of the fullest folder', async () => {
    const { values } = await run(spaceCheck(() => [folder, tmpdir()]))
    expect(Number(values.free_bytes)).toBeGreaterThan(0)
    expect(Number(values.total_bytes)).toBeGreaterThanOrEqual(Number(values.free_bytes))
  })
})

describe('ffmpeg', () => {
  /** Writes an ffmpeg that lists these encoders. */
  async function ffmpegWith(encoders: readonly string[]): Promise<string> {
    const path = join(folder, 'ffmpeg')
    const list = encoders.map((name) => ` V....D ${name}  x`).join('\n')
    const script = `#!/bin/sh\ncase "$*" in *-encoders*) cat <<'END'\n${list}\nEND\n;; *) echo 'ffmpeg version 7.1 Copyright';; esac\n`
    await writeFile(path, script, { mode: 0o755 })
    return path
  }

  test('a complete one reports its version and encoder', async () => {
    expect(await run(ffmpegCheck(await ffmpegWith(['libx264', 'libopus'])))).toEqual({
      finding: 'ffmpegWhole',
      values: { version: '7.1', encoder: 'libx264' },
    })
  })

  test('that of this machine answers; a machine without one is told so', async () => {
    const expected = (await findProgram('')) === undefined ? 'ffmpegMissing' : 'ffmpegWhole'
    expect((await run(ffmpegCheck(''))).finding).toBe(expected)
  })

  test('one without Opus names the missing encoder', async () => {
    const result = await run(ffmpegCheck(await ffmpegWith(['libx264'])))
    expect(result).toEqual({ finding: 'ffmpegPart', values: { version: '7.1', missing: 'Opus' } })
  })

  test('a wrong path, and a program other than ffmpeg, are reported', async () => {
    expect((await run(ffmpegCheck(join(folder, 'none')))).finding).toBe('ffmpegBroken')
    await writeFile(join(folder, 'other'), '#!/bin/sh\nexit 3\n', { mode: 0o755 })
    expect((await run(ffmpegCheck(join(folder, 'other')))).finding).toBe('ffmpegBroken')
  })
})

describe('ports', () => {
  /** Listener of a controller at this URL. */
  const view = (url: string, error = '') => ({
    name: 'media' as const,
    state: error === '' ? ('listening' as const) : ('failed' as const),
    url,
    urls: [],
    error,
    failed_at: 0,
  })

  test('ports for this machine only are reported as good, silent ones are not', async () => {
    const server = http.createServer((_, response) => response.writeHead(404).end())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const check = portCheck({ host: () => '127.0.0.1', views: () => [view(url)] })
    expect(await run(check)).toEqual({ finding: 'portsLocal', values: { count: 1 } })
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
    expect(await run(check)).toEqual({ finding: 'portsSilent', values: { address: '127.0.0.1', ports: 'media' } })
  })

  test.each([
    ['http://127.0.0.1:7080', 'off', '', 'encryptionLocal'],
    ['https://0.0.0.0:7080', 'self-signed', '', 'encryptionOn'],
    ['http://0.0.0.0:7080', 'off', '', 'encryptionOff'],
    ['http://[::]:7080', 'off', '', 'encryptionOff'],
    ['http://0.0.0.0:7080', 'off', 'https://rooms.example', 'encryptionProxy'],
  ] as const)('%s with TLS %s and the public address "%s" is %s', async (url, mode, public_url, finding) => {
    const { tls, media, ...others } = defaultSettings()
    const settings = () => ({ ...others, tls: { ...tls, mode }, media: { ...media, public_url } })
    expect(await run(encryptionCheck({ views: () => [view(url)], settings }))).toMatchObject({ finding })
  })

  test('a port that cannot listen is reported with its reason', async () => {
    const views = () => [view('', 'Port 7080 is in use.')]
    expect(await run(portCheck({ host: () => '0.0.0.0', views }))).toEqual({
      finding: 'portsDown',
      values: { ports: 'media', reason: 'Port 7080 is in use.' },
    })
  })

  test('the address for phones is that of a real network card, not of containers', () => {
    const card = (address: string, internal = false) => [
      { address, internal, family: 'IPv4' as const, netmask: '255.255.255.0', mac: '', cidr: null },
    ]
    const cards = {
      lo: card('127.0.0.1', true),
      docker0: card('172.17.0.1'),
      usb0: card('169.254.3.4'),
      eth0: card('192.168.1.20'),
    }
    expect(lanAddresses(cards)).toEqual(['192.168.1.20', '172.17.0.1'])
  })
})

describe('firewall', () => {
  const nobody = { arrived: undefined }
  const base = { host: () => '0.0.0.0', ports: () => ['TCP 7080', 'UDP 7082'], visits: nobody }

  /** A Linux with these files; its root ends in a slash. */
  async function linux(files: Readonly<Record<string, string>>): Promise<{ platform: 'linux'; root: string }> {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(join(folder, path, '..'), { recursive: true })
      await writeFile(join(folder, path), content)
    }
    return { platform: 'linux', root: `${folder}/` }
  }

  test('an active ufw is reported with the ports to allow', async () => {
    const system = await linux({ 'etc/ufw/ufw.conf': '# x\nENABLED=yes\nLOGLEVEL=low\n' })
    const result = await run(firewallCheck({ ...base, ...system, tool: systemWith({}) }))
    expect(result).toEqual({ finding: 'firewallActive', values: { name: 'ufw', ports: 'TCP 7080, UDP 7082' } })
  })

  test('a visit from another device proves that the firewall lets devices in; a visit from this machine does not', async () => {
    const system = await linux({ 'etc/ufw/ufw.conf': 'ENABLED=yes\n' })
    const after = async (own: boolean) => {
      const visits = { arrived: { client: '10.0.0.7', own, at: 1 } }
      return (await run(firewallCheck({ ...base, ...system, visits, tool: systemWith({}) }))).finding
    }
    expect(await after(false)).toBe('firewallPasses')
    expect(await after(true)).toBe('firewallActive')
  })

  test('services of systemd: one is active, none is, or the state is unknown', async () => {
    const system = await linux({ 'etc/ufw/ufw.conf': 'ENABLED=no\n', 'run/systemd/system/x': '' })
    const withStates = async (states: string) =>
      await run(firewallCheck({ ...base, ...system, tool: systemWith({ systemctl: states }) }))
    expect((await withStates('inactive\nactive\ninactive\n')).values.name).toBe('nftables')
    expect((await withStates('inactive\ninactive\ninactive\n')).finding).toBe('firewallNone')
    expect((await run(firewallCheck({ ...base, ...system, tool: systemWith({}) }))).finding).toBe('firewallUnknown')
    await rm(join(folder, 'run'), { recursive: true })
    expect((await withStates('active\n')).finding).toBe('firewallUnknown')
  })

  test.each([
    ['off\r\n', 'firewallNone'],
    ['on\r\n', 'firewallActive'],
    ['allow\r\n', 'firewallAllows'],
    ['block\r\n', 'firewallBlocks'],
    ['something else', 'firewallUnknown'],
  ] as const)('Windows answers %j: %s', async (answer, finding) => {
    const tool = systemWith({ 'powershell.exe': answer })
    expect((await run(firewallCheck({ ...base, platform: 'win32', program: "C:\\it's\\r.exe", tool }))).finding).toBe(
      finding,
    )
  })

  test.each([
    ['Firewall is disabled. (State = 0)', '', 'firewallNone'],
    ['Firewall is enabled. (State = 1)', 'Incoming connection to the application is blocked', 'firewallBlocks'],
    ['Firewall is enabled. (State = 1)', 'Incoming connection to the application is permitted', 'firewallAllows'],
    ['Firewall is enabled. (State = 1)', 'The application is not part of the firewall', 'firewallActive'],
    ['', '', 'firewallUnknown'],
  ] as const)('macOS answers %j, %j: %s', async (state, rule, finding) => {
    const tool: SystemTool = async (_, [flag]) => (flag === '--getglobalstate' ? state : rule)
    expect((await run(firewallCheck({ ...base, platform: 'darwin', tool }))).finding).toBe(finding)
  })

  test('is irrelevant while the ports are for this machine only', async () => {
    const tool = systemWith({})
    expect((await run(firewallCheck({ ...base, host: () => '127.0.0.1', tool }))).finding).toBe('firewallLocal')
  })
})

describe('clock', () => {
  const of = async (platform: NodeJS.Platform, answers: Readonly<Record<string, string>>) =>
    (await run(clockCheck(systemWith(answers), platform, `${folder}/`))).finding

  test('Linux reports from its kernel whether it is synchronised', async () => {
    expect(await of('linux', { timedatectl: 'yes\n' })).toBe('clockSynchronised')
    expect(await of('linux', { timedatectl: 'no\n' })).toBe('clockFree')
    expect(await of('linux', {})).toBe('clockUnknown')
    await mkdir(join(folder, 'run/systemd/timesync'), { recursive: true })
    await writeFile(join(folder, 'run/systemd/timesync/synchronized'), '')
    expect(await of('linux', {})).toBe('clockSynchronised')
  })

  test('Windows reports it by a number, in every language', async () => {
    expect(await of('win32', { 'w32tm.exe': 'Sprungindikator: 0(keine Warnung)\r\nStratum: 4' })).toBe(
      'clockSynchronised',
    )
    expect(await of('win32', { 'w32tm.exe': 'Leap Indicator: 3(not synchronized)\r\nStratum: 0' })).toBe('clockFree')
    expect(await of('win32', { 'w32tm.exe': 'The following error occurred: The service has not been started.' })).toBe(
      'clockUnknown',
    )
    expect(await of('darwin', {})).toBe('clockUnknown')
  })
})

test('a key file that others can read is reported with the command that closes it', async () => {
  const file = join(folder, 'seal.key')
  await writeFile(file, 'x', { mode: 0o600 })
  expect((await run(keyFileCheck(file))).finding).toBe('keyFile')
  await chmod(file, 0o644)
  const open = await run(keyFileCheck(file))
  expect(open).toEqual({ finding: 'keyOpen', values: { mode: '0644', file } })
  expect(sentencesOf(open).advice).toContain(`chmod 600 ${file}`)
  expect((await run(keyFileCheck(file, 'win32'))).finding).toBe('keyFile')
})

test('a system program answers, is missing, fails, or is stopped at the time limit', async () => {
  const signal = AbortSignal.timeout(20_000)
  expect(await systemTool('sh', ['-c', 'echo inactive; exit 3'], signal)).toBe('inactive\n')
  expect(await systemTool('roomdesk-no-such-program', [], signal)).toBe(undefined)
  await expect(systemTool('sh', ['-c', 'exit 3'], signal)).rejects.toThrow('sh failed')
  await expect(systemTool('sleep', ['60'], AbortSignal.timeout(20))).rejects.toThrow('sleep failed')
})
