import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { extractAll, listPackage } from '@electron/asar'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { licencesFile } from '../../packaging/licences/write-licences.ts'
import { isGenuine, launch } from '../e2e/desktop.ts'
import { type PackedApp, packedApp } from '../support/packed-app.ts'
import { checkFuses } from '../support/packed-fuses.ts'
import { makeStandInDistribution } from '../support/stand-in-distribution.ts'

const root = resolve(import.meta.dirname, '../..')
const electronHome = resolve(createRequire(import.meta.url).resolve('electron/package.json'), '..')

describe('packaged for the platform of the installed Electron', () => {
  let work: string
  let packed: PackedApp
  let files: string[]
  let pack: (target: readonly string[]) => Promise<unknown>

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'roomdesk-package-'))
    const dist = isGenuine ? join(electronHome, 'dist') : await makeStandInDistribution(join(work, 'electron'))
    const output = join(work, 'out')
    const command = join(root, 'scripts/package.mjs')
    const overrides = [`-c.electronDist=${dist}`, `-c.directories.output=${output}`]
    packed = isGenuine ? packedApp(output, process.platform, process.arch) : packedApp(output, 'linux', 'x64')
    const packaging = [...packed.target, '--publish', 'never', ...overrides]
    await promisify(execFile)(process.execPath, [command, ...packaging], { cwd: root, timeout: 240_000 })
    // A Windows host lists the paths of an archive with backslashes.
    const listed = listPackage(join(packed.resources, 'app.asar'), { isPack: false })
    files = listed.map((file) => file.replaceAll('\\', '/'))
    pack = (target) =>
      promisify(execFile)(process.execPath, [command, ...target, '--publish', 'never', ...overrides], { cwd: root })
  }, 300_000)
  afterAll(() => rm(work, { recursive: true, force: true }))

  test('contains the build, its icons, and of the packages only the natives and their dependencies', () => {
    for (const file of [
      '/package.json',
      '/packaging/update-keys.pem',
      '/dist/main/main.js',
      '/dist/main/preload.cjs',
      '/dist/renderer/index.html',
      '/dist/room-page/index.html',
      '/dist/server/media-node.js',
      '/assets/tray/tray-ok.png',
    ]) {
      expect(files).toContain(file)
    }
    const packages = new Set(files.map((file) => /^\/node_modules\/(@[^/]+|[^/]+)/.exec(file)?.[1]).filter(Boolean))
    expect([...packages].sort()).toEqual(['@node-datachannel', 'detect-libc', 'node-datachannel'])
  })

  test("does not contain Electron's default app, which would show a page to anybody who starts it without another app", () => {
    expect(existsSync(join(packed.resources, 'default_app.asar'))).toBe(false)
  })

  test('contains no development files', () => {
    const development = /\.(ts|vue|map|md)$|^\/(test|scripts|docs|server|shared|main|renderer)\/|node-linux|\/\.stamp/
    expect(files.filter((file) => development.test(file))).toEqual([])
  })

  test('contains all third-party licences: our own list, and those of Electron', async () => {
    const licences = await readFile(join(packed.resources, licencesFile), 'utf8')
    expect(licences).toBe(await readFile(join(root, 'dist', licencesFile), 'utf8'))
    const around = resolve(packed.resources, process.platform === 'darwin' && isGenuine ? '.' : '..')
    for (const file of ['LICENSE.electron.txt', 'LICENSES.chromium.html'])
      expect(existsSync(join(around, file)), file).toBe(true)
  })

  test('keeps natives outside the archive, where the system can load them', () => {
    const natives = files.filter((file) => file.endsWith('.node'))
    expect(natives).not.toEqual([])
    for (const native of natives) {
      const unpacked = join(packed.resources, `app.asar.unpacked${native}`)
      expect(existsSync(unpacked), unpacked).toBe(true)
    }
  })

  // Electron is specific to its host: only the stand-in's files can be packed for another machine.
  test.skipIf(isGenuine)(
    'is not made for a machine without its natives',
    async () => {
      await expect(pack(['--linux', 'dir', '--arm64'])).rejects.toMatchObject({
        stderr: expect.stringMatching(
          /^The natives do not fit the target: .*\.node is for linux x64.*, not for linux arm64: pack on a machine of that kind\.$/m,
        ),
      })
    },
    60_000,
  )

  test('has its fuses set', async () => {
    await checkFuses(packed.executable)
  })

  test('starts and answers a client', async () => {
    const folder = join(work, 'extracted')
    extractAll(join(packed.resources, 'app.asar'), folder)
    const description: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    expect(description).not.toHaveProperty('devDependencies')
    expect(description).not.toHaveProperty('scripts')

    await using desktop = await launch({ folder })
    const answer = await fetch(`${await desktop.url('media')}/rtc/auth/valid?access_key=nobody&digest=x`)
    expect(await answer.json()).toMatchObject({ ret: 401 })
    expect(await desktop.page.title()).toContain('Roomdesk')
    // The process of its media node has loaded the native package, and serves the room page.
    const nodes = (): Promise<unknown> => desktop.call('nodes.list')
    await expect.poll(nodes, { timeout: 30_000 }).toMatchObject([{ config: { kind: 'embedded' }, state: 'online' }])
    const { room_id } = (await desktop.call('rooms.create', { topic: 'Packed' })) as { room_id: string }
    const page = await fetch(`${await desktop.url('media')}/jroom/?roomId=${room_id}`)
    expect(page.redirected).toBe(true)
    expect(await page.text()).toContain('<title>')
  }, 180_000)
})
