import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { headlessFlags, startMode } from '../../main/start-mode.ts'
import { readDesktopLaunch, readDesktopSite } from '../../main/launch.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'

const read = (argv: readonly string[], environment: NodeJS.ProcessEnv = {}) =>
  readDesktopLaunch(argv, environment, '/home/ann/.config/Roomdesk')

test('the desktop app takes the flags of the headless controller in both spellings, and leaves those of Chromium alone', () => {
  const given = ['--media-port=7180', '--device-port', '7181', '--no-sandbox', '--lang=de', '--site', '/etc/site.json']
  expect(read(['/opt/Roomdesk/roomdesk', ...given])).toMatchObject({
    dataFolder: '/home/ann/.config/Roomdesk/site',
    mediaPort: 7180,
    devicePort: 7181,
    site: '/etc/site.json',
    hidden: false,
  })
  expect(() => read(['--media-port=many'])).toThrow('--media-port must be a port')
})

test('environment variables have the same effect as in the headless controller', () => {
  const taken = read([], {
    ROOMDESK_SITE: '/etc/site.json',
    ROOMDESK_CONSOLE_PORT: '7183',
    ROOMDESK_CONSOLE_KEY: 'on',
    ROOMDESK_FFMPEG: '/opt/ffmpeg',
  })
  expect(taken).toMatchObject({ site: '/etc/site.json', consolePort: 7183, consoleKey: true, ffmpeg: '/opt/ffmpeg' })
})

test.each([
  ['STORE', 'postgres://roomdesk@db/roomdesk'],
  ['STORE_PASSWORD_FILE', '/etc/password'],
  ['SEAL_KEY', '/etc/seal.key'],
  ['CONTROLLER_NAME', 'North'],
  ['ALLOW_PLAIN_CONTROLLERS', 'on'],
])(
  'what the desktop app cannot do is refused aloud, not dropped for another, empty site: ROOMDESK_%s',
  (name, value) => {
    const flag = `--${name.toLowerCase().replaceAll('_', '-')}`
    const refusal = `${flag} works only without a window`
    expect(() => read([], { [`ROOMDESK_${name}`]: value })).toThrow(refusal)
    expect(() => read([flag, value])).toThrow(refusal)
  },
)

test.each([
  ['MOVE_STORE', 'database'],
  ['JANUS_CONFIG', 'north'],
])('a command that the environment asks for is refused aloud: ROOMDESK_%s', (name, value) => {
  expect(() => read([], { [`ROOMDESK_${name}`]: value })).toThrow(/works only without a window/)
})

test('a site file that names a database is refused, too', async () => {
  const path = join(await temporaryFolder(), 'site.json')
  await writeFile(path, JSON.stringify({ store: 'postgres://roomdesk@db/roomdesk' }))
  await expect(readDesktopSite(path)).rejects.toThrow('--store works only without a window')
  await writeFile(path, JSON.stringify({ credentials: [] }))
  expect(await readDesktopSite(path)).toEqual({ credentials: [] })
})

test.each([
  ['--consol-port=1', '--console-port'],
  ['--console_port', '--console-port'],
  ['--Media-Prt=7180', '--media-port'],
  ['--hots=0.0.0.0', '--host'],
  ['--data-dri', '--data-dir'],
  ['--headles', '--headless'],
  ['--kiosks', '--kiosk'],
  ['--hiden', '--hidden'],
])('a mistyped flag is refused aloud, not left to Chromium, which knows none of it: %s', (argument, meant) => {
  const flag = argument.replace(/=.*/, '')
  expect(() => read(['/opt/Roomdesk/roomdesk', argument])).toThrow(
    `Roomdesk has no flag ${flag}: use ${meant}, or remove it.`,
  )
})

test('switches of Electron and Chromium are not taken for mistyped flags, nor are values and what follows "--"', () => {
  // The switches that Electron documents, those that test drivers and installers add, and Chromium's that resemble ours most.
  const names =
    'auth-server-whitelist auth-negotiate-delegate-whitelist disable-ntlm-v2 disable-http-cache disable-http2 disable-renderer-backgrounding disk-cache-size enable-logging force-fieldtrials host-rules host-resolver-rules ignore-certificate-errors ignore-connections-limit js-flags lang log-file log-level log-net-log net-log-capture-mode no-proxy-server no-sandbox no-stdio-init proxy-bypass-list proxy-pac-url proxy-server remote-debugging-port v vmodule force_high_performance_gpu force_low_power_gpu xdg-portal-required-version inspect inspect-brk inspect-port experimental-network-inspector no-deprecation throw-deprecation trace-deprecation trace-warnings dns-result-order diagnostic-dir updated force-run user-data-dir ozone-platform ozone-platform-hint remote-debugging-pipe disable-gpu use-gl kiosk-printing app-id type'
  expect(() => read(names.split(' ').map((name) => `--${name}=1`))).toThrow('--log-level must be one of')
  const others = names.split(' ').filter((name) => name !== 'log-level')
  expect(read([...others.map((name) => `--${name}=1`), '--host', '127.0.0.1', '--', '--hots'])).toMatchObject({
    host: '127.0.0.1',
  })
})

test('one program has both modes, and can quit the running one', () => {
  const mode = (...argv: string[]) => startMode(['/opt/Roomdesk/roomdesk', ...argv])
  expect(mode('--media-port=0')).toBe('desktop')
  expect(mode('--headless', '--media-port=0')).toBe('headless')
  for (const command of ['--help', '-h', '--version', '--verify-log', '--janus-config=north', '--move-store'])
    expect(mode(command)).toBe('headless')
  expect(mode('--quit')).toBe('quit')
  expect(mode('conformance', '--media=http://127.0.0.1:7080')).toBe('headless')
  expect(mode('--no-sandbox', 'conformance')).toBe('headless')
  expect(startMode(['/opt/electron', '.', 'conformance'], false)).toBe('headless')
  // A word of another kind, such as a file dropped on the app, opens the window.
  expect(mode('--site', 'conformance')).toBe('desktop')
  expect(mode('/home/ann/site.json')).toBe('desktop')
  expect(headlessFlags(['--headless', '--user-data-dir=/tmp/x', '--media-port', '0', '--no-sandbox'])).toEqual([
    '--media-port',
    '0',
  ])
})
