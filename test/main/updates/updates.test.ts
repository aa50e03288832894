import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { pino } from 'pino'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { PreferencesFile } from '../../../main/preferences.ts'
import { fetchInstaller } from '../../../main/updates/fetch-installer.ts'
import { replaceAppImage } from '../../../main/updates/install-update.ts'
import { readRelease } from '../../../main/updates/release.ts'
import { updateSource } from '../../../main/updates/update-source.ts'
import type { Updates, UpdatesOptions } from '../../../main/updates/updates.ts'
import { description, installerFile as file, minutes, newApp, UpdatePlace } from '../../support/update-place.ts'
import { verifiedRelease } from '../../support/update-publisher.ts'

const logger = pino({ level: 'silent' })
const place = new UpdatePlace()

beforeEach(() => place.open())

test('without an update source in the settings, no request is sent', async () => {
  const updates = place.start()
  await updates.check()
  expect(updates.view()).toMatchObject({ source: '', state: 'idle', checked_at: 0, release: null, problem: null })
})

test('a newer release is downloaded from a web server, verified, and shown with its notes', async () => {
  const updates = await place.checked()
  expect(updates.view()).toMatchObject({
    version: '0.2.0',
    state: 'idle',
    release: { version: '0.3.0', notes: 'Faster walls.\n', size: newApp.length },
    received: newApp.length,
    way: 'replace',
    problem: null,
  })
  expect(await readFile(updates.view().file)).toEqual(newApp)
  // Nothing was installed unasked.
  expect(await place.installed()).toContain('echo old')
})

test.each([
  ['its path', (path: string) => path],
  ['its address', (path: string) => pathToFileURL(path).href],
])('it is fetched from a folder as well, named by %s', async (_way, named) => {
  await place.putDescription()
  await writeFile(join(place.release, file), newApp)
  const updates = await place.checked(named(place.release))
  expect(updates.view()).toMatchObject({ release: { version: '0.3.0' }, problem: null })
  expect(await place.left()).toEqual([file])
})

test('a download of an earlier check is reused; files of other releases are deleted', async () => {
  await mkdir(join(place.work, 'updates'))
  await writeFile(join(place.work, 'updates/Roomdesk-0.2.5.AppImage'), 'old')
  await place.checked()
  place.answers[`/updates/${file}`] = undefined
  expect((await place.checked()).view()).toMatchObject({ release: { version: '0.3.0' }, problem: null })
  expect(await place.left()).toEqual([file])
})

test.each<[string, string, () => void]>([
  ['a wrong checksum', 'checksum', () => (place.answers[`/updates/${file}`] = Buffer.alloc(newApp.length))],
  ['more than was announced', 'checksum', () => (place.answers[`/updates/${file}`] = Buffer.concat([newApp, newApp]))],
  ['less than was announced', 'truncated', () => (place.answers[`/updates/${file}`] = newApp.subarray(1_000))],
  [
    'a connection that ends in the middle',
    'unreachable',
    () =>
      (place.answers[`/updates/${file}`] = (response) => {
        response.writeHead(200, { 'content-length': newApp.length })
        response.write(newApp.subarray(0, 70_000), () => response.destroy())
      }),
  ],
  ['no installer where it should be', 'refused', () => (place.answers[`/updates/${file}`] = undefined)],
  ['no description', 'refused', () => (place.answers['/updates/latest-linux.yml'] = undefined)],
  [
    'a description of something else',
    'malformed',
    () => (place.answers['/updates/latest-linux.yml'] = '<html>404</html>'),
  ],
  ['a version that is none', 'malformed', () => (place.answers['/updates/latest-linux.yml'] = description('newest'))],
  [
    'a path in place of a name',
    'malformed',
    () => (place.answers['/updates/latest-linux.yml'] = description('0.3.0', newApp, '../../x.AppImage')),
  ],
  ['an endless description', 'malformed', () => (place.answers['/updates/latest-linux.yml'] = '#'.repeat(300_000))],
  [
    'installers for other machines only',
    'noInstaller',
    () => (place.answers['/updates/latest-linux.yml'] = description('0.3.0', newApp, 'Roomdesk-0.3.0-arm64.AppImage')),
  ],
])('%s: nothing of it stays, and a sentence says so (%s)', async (_case, name, arrange) => {
  arrange()
  const updates = await place.checked()
  expect(updates.view()).toMatchObject({ file: '', state: 'idle', problem: { name } })
  expect(await place.left().catch(() => [])).toEqual([])
  await updates.install()
  expect([await place.installed(), place.restarts]).toEqual(['#!/bin/sh\necho old\n', 0])
})

test('an unreachable or missing update source is reported', async () => {
  expect((await place.checked(join(place.work, 'nothing'))).view().problem).toMatchObject({ name: 'noFile' })
  expect((await place.checked('http://127.0.0.1:1/')).view().problem).toMatchObject({ name: 'unreachable' })
  // Any machine on the path could replace the release: no request is sent.
  const plain = place.start()
  plain.set({ source: 'http://files.example.com/roomdesk', install: 'ask', hour: null })
  expect(plain.view().problem).toEqual({ name: 'plainHttp', detail: 'files.example.com' })
  expect((await place.checked('http://files.example.com/roomdesk')).view().problem).toMatchObject({ name: 'plainHttp' })
  expect((await place.checked('files.example.com')).view().problem).toMatchObject({ name: 'badSource' })
})

describe('a server that does not answer', () => {
  const target = { platform: 'linux' as const, arch: 'x64', isAppImage: true }
  const app = { version: '0.2.0', keys: [place.publisher.publicKey] }

  test('from the start', async () => {
    place.answers['/updates/latest-linux.yml'] = () => undefined
    await expect(readRelease(updateSource(place.address, 200), target, app)).rejects.toMatchObject({
      problem: 'silent',
    })
  })

  test('about the signature', async () => {
    place.answers['/updates/latest-linux.yml.sig'] = () => undefined
    await expect(readRelease(updateSource(place.address, 200), target, app)).rejects.toMatchObject({
      problem: 'silent',
    })
  })

  test('in the middle of the installer', async () => {
    place.answers[`/updates/${file}`] = (response) => {
      response.writeHead(200, { 'content-length': newApp.length })
      response.write(newApp.subarray(0, 70_000))
    }
    const source = updateSource(place.address, 200)
    const newer = await readRelease(source, target, app)
    if (newer === undefined) throw new Error('it is not newer')
    const fetched = fetchInstaller(source, newer, join(place.work, 'updates'))
    await expect(fetched).rejects.toMatchObject({ problem: 'silent' })
    expect(await place.left()).toEqual([])
  })
})

describe('installing', () => {
  test('replaces the AppImage atomically, and restarts; the next start reports no problem', async () => {
    const updates = await place.checked()
    await updates.install()
    expect(await readFile(place.appImage)).toEqual(newApp)
    expect((await stat(place.appImage)).mode & 0o777).toBe(0o755)
    expect(place.restarts).toBe(1)
    expect(await readdir(join(place.work, 'apps'))).toEqual(['Roomdesk.AppImage'])
    expect(place.start({ version: '0.3.0' }).view().problem).toBeNull()
  })

  test('an app that starts again unchanged reports once that the update failed', async () => {
    await (await place.checked()).install()
    expect(place.start().view().problem).toEqual({ name: 'notInstalled', detail: '0.3.0' })
    expect(place.start().view().problem).toBeNull()
  })

  test('a file modified on the disk meanwhile is not installed', async () => {
    const updates = await place.checked()
    await writeFile(updates.view().file, 'something else')
    await updates.install()
    expect(updates.view().problem).toMatchObject({ name: 'checksum' })
    expect([await place.installed(), place.restarts]).toEqual(['#!/bin/sh\necho old\n', 0])
  })

  test('a file modified during the installation never becomes the app', async () => {
    const other = join(place.work, 'other.AppImage')
    await writeFile(other, 'something else')
    const replaced = replaceAppImage(other, place.appImage, await verifiedRelease('Roomdesk.AppImage', 'announced'))
    await expect(replaced).rejects.toMatchObject({ problem: 'checksum', detail: 'Roomdesk.AppImage' })
    expect([await place.installed(), await readdir(join(place.work, 'apps'))]).toEqual([
      '#!/bin/sh\necho old\n',
      ['Roomdesk.AppImage'],
    ])
  })

  test('an app that cannot be replaced stays, and says so', async () => {
    const machine = {
      platform: 'linux',
      arch: 'x64',
      isPackaged: true,
      program: '/nowhere',
      appImage: join(place.work, 'gone/R.AppImage'),
      isManagedPackage: async () => false,
      asksAdministrator: async () => false,
    } as const
    const updates = await place.checked(place.address, { machine })
    await updates.install()
    expect(updates.view()).toMatchObject({ state: 'idle', problem: { name: 'notWritten' } })
    expect(place.restarts).toBe(0)
  })

  test('macOS: the disk image is opened for the operator, who moves the app into place', async () => {
    const opened: string[] = []
    let failure = ''
    const machine = {
      platform: 'darwin',
      arch: 'arm64',
      isPackaged: true,
      program: '/nowhere',
      appImage: undefined,
      isManagedPackage: async () => true,
      asksAdministrator: async () => false,
    } as const
    place.answers['/updates/latest-mac.yml'] = description('0.3.0', newApp, 'Roomdesk-0.3.0-arm64.dmg')
    place.answers['/updates/Roomdesk-0.3.0-arm64.dmg'] = newApp
    const open = async (path: string): Promise<string> => (opened.push(path), failure)
    const updates = await place.checked(place.address, { machine, open })
    const { file: image } = updates.view()
    expect(updates.view()).toMatchObject({ way: 'image', command: '', release: { version: '0.3.0' }, problem: null })
    await updates.install()
    expect([place.restarts, opened]).toEqual([0, []])
    await updates.open()
    expect([opened, updates.view().problem]).toEqual([[image], null])
    failure = 'No application knows it'
    await updates.open()
    expect(updates.view().problem).toEqual({ name: 'notStarted', detail: failure })
    // Changed since it was proven: it is not opened.
    await writeFile(image, 'other')
    await updates.open()
    expect([opened.length, updates.view().problem?.name]).toEqual([2, 'checksum'])
  })
})

describe.skipIf(process.platform === 'win32')('a Debian package', () => {
  const deb = 'Roomdesk-0.3.0-amd64.deb'
  const questions = (): Promise<string> => readFile(join(place.work, 'asked'), 'utf8').catch(() => '')
  /** The updates of an app that came by a package. @param answer of the system to the question for the rights */
  const managed = async (answer: string): Promise<Updates> => {
    await writeFile(join(place.work, 'pkexec'), `#!/bin/sh\necho "$@" >> '${place.work}/asked'\n${answer}\n`, {
      mode: 0o755,
    })
    vi.stubEnv('PATH', `${place.work}:/usr/bin:/bin`)
    onTestFinished(() => void vi.unstubAllEnvs())
    place.answers['/updates/latest-linux.yml'] = description('0.3.0', newApp, deb)
    place.answers[`/updates/${deb}`] = newApp
    const machine = {
      platform: 'linux',
      arch: 'x64',
      isPackaged: true,
      program: '/nowhere',
      appImage: undefined,
      isManagedPackage: async () => true,
      asksAdministrator: async () => false,
    } as const
    return await place.checked(place.address, { machine })
  }

  test('is installed by apt after the system grants the rights, and the app restarts', async () => {
    const updates = await managed('exit 0')
    const path = join(place.work, 'updates', deb)
    expect(updates.view()).toMatchObject({ way: 'package', file: path, command: `sudo apt install ${path}` })
    expect(await updates.install()).toBe(true)
    const sha512 = createHash('sha512').update(newApp).digest('hex')
    // Root compares the file with both.
    expect(await questions()).toMatch(new RegExp(`^/bin/sh -c [^]* sh ${path} ${newApp.length} ${sha512}\n$`))
    expect(place.restarts).toBe(1)
    expect(place.start({ version: '0.3.0' }).wasUpdated).toBe(true)
  })

  test('without the rights the app keeps running and says so; the next attempt can succeed', async () => {
    const updates = await managed(`[ -e '${place.work}/given' ] || exit 126`)
    expect(await updates.install()).toBe(false)
    expect(place.restarts).toBe(0)
    expect(updates.view()).toMatchObject({
      state: 'idle',
      problem: { name: 'notAllowed' },
      release: { version: '0.3.0' },
    })
    await writeFile(join(place.work, 'given'), '')
    expect(await updates.install()).toBe(true)
    expect(place.restarts).toBe(1)
  })

  test('is never installed automatically, as nobody would be there to enter the password', async () => {
    const updates = await managed('exit 0')
    updates.set({ source: place.address, install: 'quiet', hour: null })
    vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'clearInterval', 'clearTimeout', 'Date'] })
    updates.start()
    await minutes(30)
    vi.useRealTimers()
    expect([await questions(), place.restarts]).toEqual(['', 0])
  })
})

describe('with people in rooms', () => {
  const warned = async (change: Partial<UpdatesOptions> = {}): Promise<Updates> => {
    place.occupied = true
    const updates = await place.checked(place.address, change)
    vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'clearInterval', 'clearTimeout', 'Date'] })
    await updates.installWithWarning()
    return updates
  }

  test('they are notified, and the update is installed two minutes later', async () => {
    const updates = await warned()
    expect([place.warnings, place.restarts]).toEqual([[120_000], 0])
    expect(updates.view().installs_at).toBe(Date.now() + 120_000)
    // A second click changes nothing.
    await updates.installWithWarning()
    await minutes(1.9)
    expect(await place.installed()).toContain('echo old')
    await minutes(0.2)
    vi.useRealTimers()
    await expect.poll(() => place.restarts).toBe(1)
    expect(await readFile(place.appImage)).toEqual(newApp)
    expect([place.warnings, updates.view().installs_at]).toEqual([[120_000], 0])
  })

  test.each<[string, (updates: Updates) => unknown]>([
    ['the operator cancels', (updates) => updates.cancel()],
    ['the operator names another place', (updates) => updates.set({ source: '', install: 'ask', hour: null })],
  ])('it is called off, and they are told, when %s', async (_case, act) => {
    const updates = await warned()
    await minutes(1)
    await act(updates)
    await minutes(5)
    expect([place.warnings, place.restarts, updates.view().installs_at]).toEqual([[120_000, 'called off'], 0, 0])
    expect(await place.installed()).toContain('echo old')
  })

  test('they are also notified if the update cannot be installed after all', async () => {
    const updates = await warned()
    await writeFile(updates.view().file, 'something else')
    await minutes(2.1)
    vi.useRealTimers()
    await expect.poll(() => place.warnings).toEqual([120_000, 'called off'])
    expect(updates.view()).toMatchObject({ installs_at: 0, state: 'idle', problem: { name: 'checksum' } })
    expect(place.restarts).toBe(0)
  })

  test('nothing is installed if they cannot be notified', async () => {
    await expect(warned({ warnPeople: () => Promise.reject(new Error('stopping')) })).rejects.toThrow('stopping')
    await minutes(5)
    expect(place.restarts).toBe(0)
  })
})

describe('at a quiet moment', () => {
  /** Time passes while the disk works. */
  const installedByItself = (): Promise<void> =>
    vi.waitFor(
      async () => {
        await minutes(0.5)
        expect(place.restarts).toBe(1)
      },
      { timeout: 20_000 },
    )
  const begin = async (hour: number | null): Promise<void> => {
    vi.useFakeTimers({
      toFake: ['setInterval', 'setTimeout', 'clearInterval', 'clearTimeout', 'Date'],
      now: new Date(2026, 10, 26, 1, 0),
    })
    await place.putDescription()
    await writeFile(join(place.release, file), newApp)
    const updates = await place.checked(place.release)
    updates.set({ source: place.release, install: 'quiet', hour })
    updates.start()
  }

  test('an update is installed automatically after five minutes without anybody in a room', async () => {
    place.occupied = true
    await begin(null)
    await minutes(30)
    place.occupied = false
    await minutes(4)
    // Somebody came back.
    place.occupied = true
    await minutes(1)
    place.occupied = false
    await minutes(4)
    expect(place.restarts).toBe(0)
    await installedByItself()
  })

  test('an app that starts again unchanged does not retry automatically', async () => {
    const preferences = new PreferencesFile(join(place.work, 'window.json'), logger)
    preferences.set({ updates: { source: place.release, install: 'quiet', hour: null, installing: '0.3.0' } })
    await place.putDescription()
    await writeFile(join(place.release, file), newApp)
    vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'clearInterval', 'clearTimeout', 'Date'] })
    const updates = place.start()
    updates.start()
    await minutes(2)
    await vi.waitFor(
      () => expect(updates.view()).toMatchObject({ state: 'idle', release: { version: '0.3.0' } }),
      20_000,
    )
    await minutes(30)
    expect(place.restarts).toBe(0)
    expect(updates.view().problem).toMatchObject({ name: 'notInstalled' })
    // The operator may.
    await updates.install()
    expect(place.restarts).toBe(1)
  })

  test('a failed update does not prevent the next one from being installed', async () => {
    const preferences = new PreferencesFile(join(place.work, 'window.json'), logger)
    preferences.set({ updates: { source: place.release, install: 'quiet', hour: null, installing: '0.2.9' } })
    await place.putDescription()
    await writeFile(join(place.release, file), newApp)
    vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'clearInterval', 'clearTimeout', 'Date'] })
    const updates = place.start()
    expect(updates.view().problem).toEqual({ name: 'notInstalled', detail: '0.2.9' })
    updates.start()
    await installedByItself()
    expect(updates.view().problem).toBeNull()
  })

  test('not before the set hour, and not while the number of people is unknown', async () => {
    await begin(3)
    await minutes(110)
    expect(place.restarts).toBe(0)
    place.occupied = undefined
    await minutes(15)
    expect(place.restarts).toBe(0)
    place.occupied = false
    await installedByItself()
  })
})
