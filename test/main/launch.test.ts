import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { faceOf } from '../../main/face.ts'
import { headlessFlags } from '../../main/headless-face.ts'
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

test('variables of the environment count as in the headless controller', () => {
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

test('one program has both faces, and ends the one that runs', () => {
  const face = (...argv: string[]) => faceOf(['/opt/Roomdesk/roomdesk', ...argv])
  expect(face('--media-port=0')).toBe('desktop')
  expect(face('--headless', '--media-port=0')).toBe('headless')
  for (const command of ['--help', '-h', '--version', '--verify-log', '--janus-config=north', '--move-store'])
    expect(face(command)).toBe('headless')
  expect(face('--quit')).toBe('quit')
  expect(headlessFlags(['--headless', '--user-data-dir=/tmp/x', '--media-port', '0', '--no-sandbox'])).toEqual([
    '--media-port',
    '0',
  ])
})
