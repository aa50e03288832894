import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, lstatSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { extractFile } from '@electron/asar'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { parsePublicKeys, publisherKeysFile } from '../../main/updates/publisher-keys.ts'
import { readRelease } from '../../main/updates/release.ts'
import { checkNatives } from '../../packaging/natives.ts'
import { productVersion } from '../../server/bin/version.ts'
import { type InstallerTools, makeInstallerTools } from '../support/installer-tools.ts'
import { TestRelease } from '../smoke/release-of-test.ts'
import { canMakeRoots, inRoot, makeDebianRoot } from '../support/packages/debian-root.ts'
import { makeStandInDistribution } from '../support/stand-in-distribution.ts'

const root = resolve(import.meta.dirname, '../..')
const isHere = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

let work: string
beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'roomdesk-desktop-packages-'))
})
afterAll(() => rm(work, { recursive: true, force: true }))

/** `npm run package -- …` for Linux x64. */
function packageApp(args: readonly string[], env: NodeJS.ProcessEnv): Promise<unknown> {
  const command = [join(root, 'scripts/package.mjs'), '--x64', '--publish', 'never', ...args]
  return promisify(execFile)(process.execPath, command, {
    cwd: root,
    env: { ...process.env, ...env },
    timeout: 240_000,
  })
}

const nowhere = 'http://127.0.0.1:1/'
/** Neither a network nor tools of this machine. */
const offline = {
  ...{ ELECTRON_MIRROR: nowhere, ELECTRON_BUILDER_BINARIES_MIRROR: nowhere },
  ...{ ELECTRON_OVERRIDE_DIST_PATH: undefined, USE_SYSTEM_FPM: undefined },
  ...{ CUSTOM_FPM_PATH: undefined, APPIMAGE_TOOLS_PATH: undefined },
}

test('each missing tool is named before packaging starts, with the way to install it', async () => {
  const env = { ...offline, electron_config_cache: join(work, 'none') }
  const args = ['--linux', '--tools', join(work, 'tools'), `-c.directories.output=${join(work, 'nothing')}`]
  const { code, stderr } = (await packageApp(args, env).catch((error: unknown) => error)) as {
    code: number
    stderr: string
  }
  expect(code).toBe(1)
  const lines = stderr.split('\n')
  expect(lines.filter((line) => line.startsWith('- '))).toEqual([
    expect.stringMatching(
      /^- Electron for linux x64: name a folder or archive that holds it \(-c\.electronDist=PATH\), or/,
    ),
    expect.stringMatching(
      /^- The tools for AppImages .* neither here nor can it be fetched \(.*\): set APPIMAGE_TOOLS_PATH/,
    ),
    expect.stringMatching(/^- fpm, which makes the \.deb, is neither here nor can it be fetched \(.*\): install it/),
  ])
  expect(lines.filter((line) => line.startsWith('Nothing was packaged:'))).toHaveLength(1)
  // No stack.
  expect(stderr).not.toMatch(/^\s+at /m)
  expect(existsSync(join(work, 'nothing'))).toBe(false)
}, 240_000)

describe.skipIf(process.platform !== 'linux' || process.arch !== 'x64' || !isHere('dpkg-deb'))('for Linux', () => {
  let output: string
  let tools: InstallerTools
  const file = async (end: string): Promise<string> => {
    const [found = ''] = (await readdir(output)).filter((name) => name.endsWith(end))
    return join(output, found)
  }
  beforeAll(async () => {
    output = join(work, 'out')
    // One folder holds Electron and all tools: nothing is fetched, and no variable is set.
    tools = await makeInstallerTools(work)
    await makeStandInDistribution(join(work, 'electron'))
    await packageApp(['--linux', 'deb', 'AppImage', '--tools', work, `-c.directories.output=${output}`], offline)
  }, 300_000)

  /** Files that an installed app needs, below its folder. */
  const parts = [
    'roomdesk',
    'resources/app.asar',
    'resources/app.asar.unpacked/node_modules/@node-datachannel/linux-x64-gnu/node_datachannel.node',
    'resources/THIRD-PARTY-LICENCES.txt',
    'LICENSE.electron.txt',
    'LICENSES.chromium.html',
  ]

  test('the .deb holds the app, its icons and its desktop file, and declares its dependencies', async () => {
    const deb = await file('.deb')
    const field = (name: string): string =>
      execFileSync('dpkg-deb', ['--field', deb, name], { encoding: 'utf8' }).trim()
    expect([field('Package'), field('Version'), field('Architecture')]).toEqual(['roomdesk', productVersion, 'amd64'])
    expect(field('Depends').split(', ')).toEqual(expect.arrayContaining(['libgbm1', 'libasound2t64 | libasound2']))
    const listed = execFileSync('dpkg-deb', ['--contents', deb], { encoding: 'utf8', maxBuffer: 2 ** 26 })
    const files = listed.split('\n').map((line) => line.replace(/^.* \./, ''))
    expect(files).toEqual(expect.arrayContaining(parts.map((part) => `/opt/Roomdesk/${part}`)))
    expect(files).toEqual(
      expect.arrayContaining([
        '/usr/share/applications/desk.roomdesk.Roomdesk.desktop',
        '/usr/share/icons/hicolor/512x512/apps/roomdesk.png',
      ]),
    )
    expect(files.filter((path) => /default_app\.asar|\.map$|\.ts$/.test(path))).toEqual([])
  })

  test('apt finds all dependencies of the .deb on an empty machine', async (context) => {
    const apt = ['-o', 'Dir::State::status=/dev/null', 'install', '--simulate', '--no-install-recommends']
    const { status, stdout, stderr } = spawnSync('apt-get', [...apt, await file('.deb')], { encoding: 'utf8' })
    if (/Unable to locate|no installation candidate/.test(stderr)) context.skip('the lists of apt are not here')
    expect(status, stderr).toBe(0)
    for (const name of ['libgtk-3-0', 'libasound2', 'libgbm1', 'libnss3'])
      expect(stdout).toMatch(new RegExp(`^Inst ${name}(t64)? `, 'm'))
  }, 60_000)

  test.runIf(canMakeRoots())(
    'in a minimal Debian it is installed with its command and its sandbox, and removed without a trace',
    async () => {
      const debian = join(work, 'debian')
      makeDebianRoot(debian)
      execFileSync('cp', [await file('.deb'), join(debian, 'tmp/roomdesk.deb')])
      // Its dependencies were checked above.
      inRoot(debian, ['dpkg', '--force-depends', '--install', '/tmp/roomdesk.deb'])
      expect(inRoot(debian, ['readlink', '-f', '/usr/bin/roomdesk']).trim()).toBe('/opt/Roomdesk/roomdesk')
      expect(lstatSync(join(debian, 'opt/Roomdesk/roomdesk')).mode & 0o111).toBe(0o111)
      inRoot(debian, ['dpkg', '--purge', 'roomdesk'])
      for (const left of ['opt/Roomdesk', 'usr/bin/roomdesk', 'etc/apparmor.d/roomdesk'])
        expect(existsSync(join(debian, left)), left).toBe(false)
    },
    120_000,
  )

  test('the AppImage holds the app behind its runtime', async (context) => {
    if (!isHere('unsquashfs')) context.skip('unsquashfs is not here (package squashfs-tools)')
    const image = await file('.AppImage')
    const runtime = 'the static runtime'
    expect((await readFile(image, 'latin1')).startsWith(runtime)).toBe(true)
    const listed = execFileSync('unsquashfs', ['-o', String(runtime.length), '-l', image], { encoding: 'utf8' })
    const files = listed.split('\n').map((line) => line.replace('squashfs-root/', ''))
    expect(files).toEqual(expect.arrayContaining([...parts, 'AppRun', 'desk.roomdesk.Roomdesk.desktop']))
    expect(files.filter((path) => /default_app\.asar|\.map$/.test(path))).toEqual([])
  })

  test('the release with which `npm run smoke` updates an AppImage is accepted by this app', async () => {
    for (const [name, value] of Object.entries(tools.env)) vi.stubEnv(name, value)
    onTestFinished(() => void vi.unstubAllEnvs())
    const release = new TestRelease(join(output, 'linux-unpacked'), join(work, 'smoke'))
    const { folder, file: image } = await release.appImage('9.0.0')
    const resources = join(work, 'smoke/app-9.0.0/resources')
    await checkNatives(resources, 'linux', 'x64')
    const keys = parsePublicKeys(extractFile(join(resources, 'app.asar'), publisherKeysFile).toString())
    expect(keys).toHaveLength(1)
    const open = async (name: string): Promise<AsyncIterable<Buffer>> => createReadStream(join(folder, name))
    const target = { platform: 'linux', arch: 'x64', isAppImage: true } as const
    const found = await readRelease({ open }, target, { version: productVersion, keys })
    expect(found).toMatchObject({ version: '9.0.0' })
    const sha512 = createHash('sha512')
      .update(await readFile(image))
      .digest('base64')
    expect(JSON.stringify(found)).toContain(sha512)
  }, 120_000)
})
