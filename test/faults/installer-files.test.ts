import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { getConfig } from 'app-builder-lib/out/util/config/config.js'
import { parsePlistFile } from 'app-builder-lib/out/util/plist.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { appId } from '../../main/app-id.ts'
import { parsePublicKeys, publisherKeysFile } from '../../main/updates/publisher-keys.ts'
import { readRelease } from '../../main/updates/release.ts'
import { makeUpdateKey, readSigningKeys, signDescriptions } from '../../packaging/installers/update-key.ts'
import { productVersion } from '../../server/bin/version.ts'
import { type InstallerTools, makeInstallerTools } from '../support/installer-tools.ts'
import { makeMacStandIn } from '../support/stand-in-distribution.ts'

const root = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)

describe.skipIf(process.platform !== 'linux')('electron-builder writes, without its downloads,', () => {
  let work: string
  let output: string
  let tools: InstallerTools
  const build = async (...flags: string[]): Promise<unknown> => {
    const fixed = ['--x64', '--publish', 'never', `-c.directories.output=${output}`]
    const env = { ...process.env, ...tools.env }
    const command = [join(root, 'scripts/package.mjs'), ...flags, ...fixed]
    return await run(process.execPath, command, { cwd: root, env, timeout: 120_000 })
  }
  const seen = async (name: string): Promise<string> => await readFile(join(tools.seen, name), 'utf8')

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'roomdesk-installers-'))
    output = join(work, 'out')
    tools = await makeInstallerTools(work)
    // An app that is packed already: it prints its arguments.
    await mkdir(join(work, 'app/resources'), { recursive: true })
    for (const program of ['roomdesk', 'Roomdesk.exe'])
      await writeFile(join(work, 'app', program), '#!/bin/sh\nprintf "%s " "$@"\n', { mode: 0o755 })
    await build('--linux', 'AppImage', 'deb', '--prepackaged', join(work, 'app'))
  }, 150_000)
  afterAll(() => rm(work, { recursive: true, force: true }))

  const desktopEntry = (exec: string) => ({
    ...{ Name: 'Roomdesk', Exec: exec, Icon: 'roomdesk', Type: 'Application', Terminal: 'false' },
    // Electron names the windows' class after its `desktopName`: another name would show a second icon.
    ...{ StartupWMClass: appId, Categories: 'Network;', Keywords: 'media;room;camera;RTSP;WebRTC;' },
    Comment: expect.stringContaining('media rooms and RTSP devices'),
  })

  test('the desktop file of the deb and that of the AppImage', async () => {
    expect(entriesOf(await seen('deb.desktop'))).toEqual(desktopEntry('/opt/Roomdesk/roomdesk %U'))
    expect(entriesOf(await seen(`stage/${appId}.desktop`))).toEqual({
      ...desktopEntry('AppRun %U'),
      'X-AppImage-Version': productVersion,
    })
  })

  test('the fields, dependencies and files of the deb', async () => {
    const args = (await seen('fpm')).split('\0').slice(0, -1)
    const after = (flag: string): (string | undefined)[] =>
      args.flatMap((given, index) => (given === flag ? [args[index + 1]] : []))
    expect(after('-t')).toEqual(['deb'])
    expect(after('--name')).toEqual(['roomdesk'])
    expect(after('--version')).toEqual([productVersion])
    expect(after('--architecture')).toEqual(['amd64'])
    expect(after('--maintainer')).toEqual(['Roomdesk maintainers <maintainers@roomdesk.invalid>'])
    expect(after('--description')[0]).toMatch(/^Media rooms and RTSP devices under one roof\n /)
    const { deb } = await getConfig(root, null, null)
    expect(after('-d')).toEqual(deb?.depends)
    const placed = args.filter((given) => given.includes('=/')).map((given) => given.replace(/^.*=/, ''))
    const icons = [16, 24, 32, 48, 64, 96, 128, 256, 512].map((size) => `hicolor/${size}x${size}/apps/roomdesk.png`)
    expect(placed).toEqual([
      '/opt/Roomdesk',
      ...icons.map((icon) => `/usr/share/icons/${icon}`),
      `/usr/share/applications/${appId}.desktop`,
    ])
  })

  test('scripts of the deb that create and remove the command and the sandbox profile', async () => {
    for (const script of ['--after-install', '--after-remove'])
      expect(spawnSync('bash', ['-n', join(tools.seen, script)]).status).toBe(0)
    const installed = await seen('--after-install')
    expect(installed).toContain("--install '/usr/bin/roomdesk' 'roomdesk' '/opt/Roomdesk/roomdesk'")
    expect(installed).toContain("chmod 4755 '/opt/Roomdesk/chrome-sandbox'")
    expect(installed).toContain("APPARMOR_PROFILE_TARGET='/etc/apparmor.d/roomdesk'")
    const removed = await seen('--after-remove')
    expect(removed).toContain("--remove 'roomdesk' '/opt/Roomdesk/roomdesk'")
    expect(removed).toContain("APPARMOR_PROFILE_DEST='/etc/apparmor.d/roomdesk'")
    for (const script of [installed, removed]) expect(script).not.toContain('${executable}')
    const profile = await readFile(join(work, 'app/resources/apparmor-profile'), 'utf8')
    expect(profile).toContain('profile "roomdesk" "/opt/Roomdesk/roomdesk" flags=(unconfined) {\n  userns,')
  })

  test('an AppImage with the static runtime, which needs no libfuse2', async () => {
    const [image = ''] = (await readdir(output)).filter((name) => name.endsWith('.AppImage'))
    expect((await readFile(join(output, image), 'latin1')).startsWith('the static runtime')).toBe(true)
    expect((await seen('mksquashfs')).split('\0').slice(-3)).toEqual(['-comp', 'zstd', ''])
  })

  test('an AppRun that disables the sandbox only without user namespaces: the app then refuses to start', async () => {
    const started = async (namespaces: boolean, ...args: string[]): Promise<string> => {
      const programs = join(work, `namespaces-${namespaces}`)
      await mkdir(programs, { recursive: true })
      await writeFile(join(programs, 'unshare'), `#!/bin/sh\n${namespaces}\n`, { mode: 0o755 })
      const env = { ...process.env, PATH: `${programs}:${process.env.PATH}`, APPDIR: undefined }
      return (await run(join(tools.seen, 'stage/AppRun'), args, { env })).stdout.trim()
    }
    expect(await started(true, '--hidden', '--site=/a b')).toBe('--hidden --site=/a b')
    expect(await started(false, '--hidden')).toBe('--no-sandbox --hidden')
    expect(await started(true)).toBe('')
  })

  test('an update feed that lists both', async () => {
    const feed = await readFile(join(output, 'latest-linux.yml'), 'utf8')
    expect(feed).toContain(`version: ${productVersion}`)
    expect([...feed.matchAll(/^ {2}- url: (.*)$/gm)].map(([, url]) => url).sort()).toEqual([
      `Roomdesk-${productVersion}.AppImage`,
      `roomdesk_${productVersion}_amd64.deb`,
    ])
  })

  test('descriptions that npm run package signs, and the app reads', async () => {
    const repository = join(work, 'repository')
    await mkdir(join(repository, 'packaging'), { recursive: true })
    await copyFile(join(root, publisherKeysFile), join(repository, publisherKeysFile))
    const key = join(work, 'update-key.pem')
    makeUpdateKey(key, repository)
    expect(signDescriptions(output, readSigningKeys([key], repository), repository, 0)).toContain('latest-linux.yml')
    const source = { open: async (name: string) => createReadStream(join(output, name)) }
    const keys = parsePublicKeys(await readFile(join(repository, publisherKeysFile), 'utf8'))
    for (const isAppImage of [true, false]) {
      const target = { platform: 'linux', arch: 'x64', isAppImage } as const
      const release = await readRelease(source, target, { version: '0.0.1', keys })
      const content = await readFile(join(output, release?.file ?? ''))
      expect(release).toMatchObject({
        version: productVersion,
        size: content.length,
        sha512: createHash('sha512').update(content).digest('base64'),
      })
      expect(await readRelease(source, target, { version: productVersion, keys })).toBeUndefined()
    }
  })

  test('the whole Windows installer with our part in it: makensis accepts it and its uninstaller', async (context) => {
    if (spawnSync('makensis', ['-VERSION']).status !== 0) context.skip('makensis is not here (package nsis)')
    await build('--win', 'nsis', '--prepackaged', join(work, 'app'))
    expect(await readdir(output)).toContain(`Roomdesk Setup ${productVersion}.exe`)
    const [installer, uninstaller] = [await seen('installer.log'), await seen('uninstaller.log')]
    for (const log of [installer, uninstaller]) {
      const warnings = log.split('\n').filter((line) => /^\s*!?warning\b.*:/.test(line))
      // Texts that makensis of Debian 12 lacks, in languages that it falls back from to English.
      expect(warnings.filter((line) => !/LangString "MULTIUSER_\w+" for language \w+ is missing/.test(line))).toEqual(
        [],
      )
    }
    // Each of our macros is where electron-builder looks for it.
    for (const line of ['net.exe" stop Roomdesk', 'quit-request', 'Roomdesk.exe" --quit', 'net.exe" start Roomdesk'])
      expect(installer).toContain(line)
    for (const line of [
      'net.exe" stop Roomdesk',
      'quit-request',
      'Roomdesk.exe" --quit',
      'Roomdesk.exe" --remove-service',
    ])
      expect(uninstaller).toContain(line)
    expect(uninstaller).toMatch(new RegExp(`DeleteRegValue: .*CurrentVersion\\\\Run\\\\?"? ?"?.*${appId}`))
  }, 60_000)

  test('the Info.plist of macOS, and its texts in other languages', async () => {
    const electronDist = await makeMacStandIn(join(work, 'mac-electron'))
    // The rest needs the natives of macOS, which npm installs there only.
    await expect(build('--mac', 'dir', `-c.electronDist=${electronDist}`)).rejects.toMatchObject({
      stderr: expect.stringContaining('The natives do not fit the target'),
    })
    const contents = join(output, 'mac/Roomdesk.app/Contents')
    const info = await parsePlistFile<Record<string, unknown>>(join(contents, 'Info.plist'))
    expect(info).toMatchObject({
      CFBundleIdentifier: appId,
      CFBundleName: 'Roomdesk',
      CFBundleExecutable: 'Roomdesk',
      CFBundleShortVersionString: productVersion,
      LSApplicationCategoryType: 'public.app-category.video',
      LSAppNapIsDisabled: true,
      NSLocalNetworkUsageDescription: expect.stringContaining('on the local network'),
      // Electron's own.
      NSCameraUsageDescription: 'This app needs access to the camera',
      ElectronAsarIntegrity: { 'Resources/app.asar': { algorithm: 'SHA256', hash: expect.any(String) } },
    })
    // It has an icon in the dock; headless takes that away at run time.
    expect(info).not.toHaveProperty('LSUIElement')
    for (const language of ['de', 'zh_CN'])
      expect(await readFile(join(contents, `Resources/${language}.lproj/InfoPlist.strings`), 'utf8')).toContain(
        'NSLocalNetworkUsageDescription',
      )
    const helper = await parsePlistFile<Record<string, unknown>>(
      join(contents, 'Frameworks/Roomdesk Helper (Renderer).app/Contents/Info.plist'),
    )
    expect(helper).toMatchObject({ CFBundleIdentifier: `${appId}.helper.Renderer` })
  }, 120_000)
})

/** Entries of a desktop file. */
function entriesOf(text: string): Record<string, string> {
  const [head, ...lines] = text.trim().split('\n')
  expect(head).toBe('[Desktop Entry]')
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=')
      return [line.slice(0, at), line.slice(at + 1)] as const
    }),
  )
}
