import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { PreferencesFile } from '../../../main/preferences.ts'
import { fetchInstaller } from '../../../main/updates/fetch-installer.ts'
import { replaceAppImage, runInstaller } from '../../../main/updates/install-update.ts'
import { readRelease } from '../../../main/updates/release.ts'
import { asksAdministrator } from '../../../main/updates/per-machine.ts'
import { proveSignature, type Signature } from '../../../main/updates/signature.ts'
import { updateSource } from '../../../main/updates/update-source.ts'
import { Updates, type UpdatesOptions } from '../../../main/updates/updates.ts'
import { UpdatePublisher, verifiedRelease } from '../../support/update-publisher.ts'

const logger = pino({ level: 'silent' })
const publisher = new UpdatePublisher()
const newApp = Buffer.from(`#!/bin/sh\necho new\n${'#'.repeat(200_000)}`)
const file = 'Roomdesk-0.3.0-x86_64.AppImage'
const description = (version = '0.3.0', content: Uint8Array = newApp, name = file): string => `version: ${version}
files:
  - url: ${name}
    sha512: ${createHash('sha512').update(content).digest('base64')}
    size: ${content.length}
path: ${name}
releaseDate: '2026-11-26T00:00:00.000Z'
releaseNotes: |
  Faster walls.
`

/** Answer of the site's web server by path; undefined: no such file. */
type Answer = string | Uint8Array | ((response: ServerResponse) => void) | undefined

/** Answer to a request. The publisher signed every description that has no other signature. */
function answerTo(url: string): Answer {
  if (url in answers || !url.endsWith('.sig')) return answers[url]
  const description = answers[url.slice(0, -'.sig'.length)]
  return typeof description === 'string' ? publisher.sign(description) : undefined
}

/** Puts a signed description into the folder of releases. */
async function putDescription(text = description()): Promise<void> {
  await writeFile(join(release, 'latest-linux.yml'), text)
  await writeFile(join(release, 'latest-linux.yml.sig'), publisher.sign(text))
}

let work: string
let release: string
let appImage: string
let server: Server
let address: string
let answers: Record<string, Answer>
/** Paths that were asked for. */
let asked: string[]
let restarts: number
let occupied: boolean | undefined
/** Warnings of people in rooms: in how many milliseconds, or that it is called off. */
let warnings: (number | 'called off')[]

beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'roomdesk-updates-'))
  release = join(work, 'release')
  appImage = join(work, 'apps/Roomdesk.AppImage')
  await mkdir(release)
  await mkdir(join(work, 'apps'))
  await writeFile(appImage, '#!/bin/sh\necho old\n')
  await chmod(appImage, 0o755)
  answers = { '/updates/latest-linux.yml': description(), [`/updates/${file}`]: newApp }
  restarts = 0
  warnings = []
  occupied = false
  asked = []
  server = createServer(({ url = '' }, response) => {
    asked.push(url)
    const answer = answerTo(url)
    if (typeof answer === 'function') answer(response)
    else if (answer === undefined) response.writeHead(404).end()
    else response.end(answer)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/updates`
})
afterEach(async () => {
  vi.useRealTimers()
  server.closeAllConnections()
  server.close()
  await rm(work, { recursive: true, force: true })
})

function startUpdates(change: Partial<UpdatesOptions> = {}): Updates {
  return new Updates({
    preferences: new PreferencesFile(join(work, 'window.json'), logger),
    logger,
    folder: join(work, 'updates'),
    version: '0.2.0',
    keys: [publisher.publicKey],
    machine: {
      platform: 'linux',
      arch: 'x64',
      isPackaged: true,
      program: '/nowhere',
      appImage,
      isManagedPackage: async () => false,
      asksAdministrator: async () => false,
    },
    open: async () => '',
    isOccupied: () => occupied,
    warnPeople: async (inMs) => void warnings.push(inMs ?? 'called off'),
    restart: () => (restarts += 1),
    isEnding: () => false,
    onChange: () => undefined,
    ...change,
  })
}

/** The updates of an app whose operator named a place, after a check. */
async function checked(source = address, change: Partial<UpdatesOptions> = {}): Promise<Updates> {
  const updates = startUpdates(change)
  updates.set({ source, install: 'ask', hour: null })
  await updates.check()
  return updates
}

const left = (): Promise<string[]> => readdir(join(work, 'updates'))
const installed = (): Promise<string> => readFile(appImage, 'utf8')

test('without a place of the site, nobody is asked', async () => {
  const updates = startUpdates()
  await updates.check()
  expect(updates.view()).toMatchObject({ source: '', state: 'idle', checked_at: 0, release: null, problem: null })
})

test('a newer release is fetched from a web server, proven, and shown with its notes', async () => {
  const updates = await checked()
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
  expect(await installed()).toContain('echo old')
})

test.each([
  ['its path', (path: string) => path],
  ['its address', (path: string) => pathToFileURL(path).href],
])('it is fetched from a folder as well, named by %s', async (_way, named) => {
  await putDescription()
  await writeFile(join(release, file), newApp)
  const updates = await checked(named(release))
  expect(updates.view()).toMatchObject({ release: { version: '0.3.0' }, problem: null })
  expect(await left()).toEqual([file])
})

test('what lies there from an earlier check is not fetched again; what is left of other releases goes', async () => {
  await mkdir(join(work, 'updates'))
  await writeFile(join(work, 'updates/Roomdesk-0.2.5.AppImage'), 'old')
  await checked()
  answers[`/updates/${file}`] = undefined
  expect((await checked()).view()).toMatchObject({ release: { version: '0.3.0' }, problem: null })
  expect(await left()).toEqual([file])
})

test.each(['0.2.0', '0.1.9', '0.2.0-rc.1'])('a release %s is none for version 0.2.0', async (version) => {
  answers['/updates/latest-linux.yml'] = description(version)
  const { release: found, problem, checked_at } = (await checked()).view()
  expect([found, problem]).toEqual([null, null])
  expect(checked_at).toBeGreaterThan(0)
})

test.each([
  ['0.3.0-rc.2', '0.3.0-rc.10', true],
  ['0.3.0-rc.2', '0.3.0', true],
  ['0.3.0-rc.2', '0.3.0-rc.1', false],
  ['0.3.0-rc.2', '0.2.9', false],
  ['0.3.0', '0.3.0+1', false],
])('for version %s a release %s is newer: %s', async (version, offered, isNewer) => {
  answers['/updates/latest-linux.yml'] = description(offered)
  const view = (await checked(address, { version })).view()
  expect([view.release !== null, view.file !== '', view.problem]).toEqual([isNewer, isNewer, null])
})

describe('who made a release', () => {
  const other = new UpdatePublisher()
  const text = description()
  const signature = '/updates/latest-linux.yml.sig'

  test.each<[string, string, Answer]>([
    ['is not signed', 'notSigned', undefined],
    ['has an empty signature', 'notSigned', ''],
    ['has a signature that is none', 'notSigned', '<html>not here</html>'],
    ['was signed by another publisher', 'otherKey', other.sign(text)],
    ['has the signature of another release', 'otherKey', publisher.sign(description('0.2.0'))],
    ['has an endless signature', 'malformed', 'A'.repeat(10_000)],
  ])('one that %s is not offered (%s)', async (_case, name, answer) => {
    answers[signature] = answer
    const updates = await checked()
    expect(updates.view()).toMatchObject({ release: null, file: '', problem: { name } })
    await updates.install()
    expect([await installed(), restarts]).toEqual(['#!/bin/sh\necho old\n', 0])
  })

  test('one that was changed after it was signed is not even read', async () => {
    answers[signature] = publisher.sign(text)
    for (const changed of [text.replace('0.3.0', '0.4.0'), `${text}#`, text.replaceAll('\n', '\r\n'), 'a: [']) {
      answers['/updates/latest-linux.yml'] = changed
      expect((await checked()).view()).toMatchObject({ release: null, problem: { name: 'otherKey' } })
    }
  })

  test('an old release with its own signature replaces no newer app', async () => {
    answers['/updates/latest-linux.yml'] = text
    answers[signature] = publisher.sign(text)
    const updates = await checked(address, { version: '0.4.0' })
    expect(updates.view()).toMatchObject({ release: null, file: '', problem: null })
    expect(asked).not.toContain(`/updates/${file}`)
  })

  test('while the publisher changes its key, the old and the new one are good: in the app, and of a release', async () => {
    answers[signature] = other.sign(text)
    const both = await checked(address, { keys: [publisher.publicKey, other.publicKey] })
    expect(both.view()).toMatchObject({ release: { version: '0.3.0' }, problem: null })
    answers[signature] = other.sign(text) + publisher.sign(text)
    expect((await checked()).view()).toMatchObject({ release: { version: '0.3.0' }, problem: null })
  })

  test('a build without a key asks nobody, and says why', async () => {
    const updates = await checked(address, { keys: [] })
    expect(updates.view()).toMatchObject({ release: null, checked_at: 0, problem: { name: 'noKey' } })
    expect(asked).toEqual([])
  })
})

test.each<[string, string, () => void]>([
  ['a wrong checksum', 'checksum', () => (answers[`/updates/${file}`] = Buffer.alloc(newApp.length))],
  ['more than was announced', 'checksum', () => (answers[`/updates/${file}`] = Buffer.concat([newApp, newApp]))],
  ['less than was announced', 'truncated', () => (answers[`/updates/${file}`] = newApp.subarray(1_000))],
  [
    'a connection that ends in the middle',
    'unreachable',
    () =>
      (answers[`/updates/${file}`] = (response) => {
        response.writeHead(200, { 'content-length': newApp.length })
        response.write(newApp.subarray(0, 70_000), () => response.destroy())
      }),
  ],
  ['no installer where it should be', 'refused', () => (answers[`/updates/${file}`] = undefined)],
  ['no description', 'refused', () => (answers['/updates/latest-linux.yml'] = undefined)],
  ['a description of something else', 'malformed', () => (answers['/updates/latest-linux.yml'] = '<html>404</html>')],
  ['a version that is none', 'malformed', () => (answers['/updates/latest-linux.yml'] = description('newest'))],
  [
    'a path in place of a name',
    'malformed',
    () => (answers['/updates/latest-linux.yml'] = description('0.3.0', newApp, '../../x.AppImage')),
  ],
  ['an endless description', 'malformed', () => (answers['/updates/latest-linux.yml'] = '#'.repeat(300_000))],
  [
    'installers for other machines only',
    'noInstaller',
    () => (answers['/updates/latest-linux.yml'] = description('0.3.0', newApp, 'Roomdesk-0.3.0-arm64.AppImage')),
  ],
])('%s: nothing of it stays, and a sentence says so (%s)', async (_case, name, arrange) => {
  arrange()
  const updates = await checked()
  expect(updates.view()).toMatchObject({ file: '', state: 'idle', problem: { name } })
  expect(await left().catch(() => [])).toEqual([])
  await updates.install()
  expect([await installed(), restarts]).toEqual(['#!/bin/sh\necho old\n', 0])
})

test('a place that is gone, or none at all, is said', async () => {
  expect((await checked(join(work, 'nothing'))).view().problem).toMatchObject({ name: 'noFile' })
  expect((await checked('http://127.0.0.1:1/')).view().problem).toMatchObject({ name: 'unreachable' })
  // Anybody on the way could offer another app: nothing is asked there.
  const plain = startUpdates()
  plain.set({ source: 'http://files.example.com/roomdesk', install: 'ask', hour: null })
  expect(plain.view().problem).toEqual({ name: 'plainHttp', detail: 'files.example.com' })
  expect((await checked('http://files.example.com/roomdesk')).view().problem).toMatchObject({ name: 'plainHttp' })
  expect((await checked('files.example.com')).view().problem).toMatchObject({ name: 'badSource' })
})

describe('a server that is silent', () => {
  const target = { platform: 'linux' as const, arch: 'x64', isAppImage: true }
  const app = { version: '0.2.0', keys: [publisher.publicKey] }

  test('from the start', async () => {
    answers['/updates/latest-linux.yml'] = () => undefined
    await expect(readRelease(updateSource(address, 200), target, app)).rejects.toMatchObject({ problem: 'silent' })
  })

  test('about the signature', async () => {
    answers['/updates/latest-linux.yml.sig'] = () => undefined
    await expect(readRelease(updateSource(address, 200), target, app)).rejects.toMatchObject({ problem: 'silent' })
  })

  test('in the middle of the installer', async () => {
    answers[`/updates/${file}`] = (response) => {
      response.writeHead(200, { 'content-length': newApp.length })
      response.write(newApp.subarray(0, 70_000))
    }
    const source = updateSource(address, 200)
    const newer = await readRelease(source, target, app)
    if (newer === undefined) throw new Error('it is not newer')
    const fetched = fetchInstaller(source, newer, join(work, 'updates'))
    await expect(fetched).rejects.toMatchObject({ problem: 'silent' })
    expect(await left()).toEqual([])
  })
})

describe('installing', () => {
  test('puts the new AppImage in place whole, and restarts; the next start knows that it came through', async () => {
    const updates = await checked()
    await updates.install()
    expect(await readFile(appImage)).toEqual(newApp)
    expect((await stat(appImage)).mode & 0o777).toBe(0o755)
    expect(restarts).toBe(1)
    expect(await readdir(join(work, 'apps'))).toEqual(['Roomdesk.AppImage'])
    expect(startUpdates({ version: '0.3.0' }).view().problem).toBeNull()
  })

  test('an app that comes back as it was says that the update failed, once', async () => {
    await (await checked()).install()
    expect(startUpdates().view().problem).toEqual({ name: 'notInstalled', detail: '0.3.0' })
    expect(startUpdates().view().problem).toBeNull()
  })

  test('a file that changed on the disk meanwhile is not installed', async () => {
    const updates = await checked()
    await writeFile(updates.view().file, 'something else')
    await updates.install()
    expect(updates.view().problem).toMatchObject({ name: 'checksum' })
    expect([await installed(), restarts]).toEqual(['#!/bin/sh\necho old\n', 0])
  })

  test('a file that changes while it is put in place never becomes the app', async () => {
    const other = join(work, 'other.AppImage')
    await writeFile(other, 'something else')
    const replaced = replaceAppImage(other, appImage, await verifiedRelease('Roomdesk.AppImage', 'announced'))
    await expect(replaced).rejects.toMatchObject({ problem: 'checksum', detail: 'Roomdesk.AppImage' })
    expect([await installed(), await readdir(join(work, 'apps'))]).toEqual([
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
      appImage: join(work, 'gone/R.AppImage'),
      isManagedPackage: async () => false,
      asksAdministrator: async () => false,
    } as const
    const updates = await checked(address, { machine })
    await updates.install()
    expect(updates.view()).toMatchObject({ state: 'idle', problem: { name: 'notWritten' } })
    expect(restarts).toBe(0)
  })

  test('macOS: the image is opened for the operator, who puts the app in its place', async () => {
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
    answers['/updates/latest-mac.yml'] = description('0.3.0', newApp, 'Roomdesk-0.3.0-arm64.dmg')
    answers['/updates/Roomdesk-0.3.0-arm64.dmg'] = newApp
    const open = async (path: string): Promise<string> => (opened.push(path), failure)
    const updates = await checked(address, { machine, open })
    const { file: image } = updates.view()
    expect(updates.view()).toMatchObject({ way: 'image', command: '', release: { version: '0.3.0' }, problem: null })
    await updates.install()
    expect([restarts, opened]).toEqual([0, []])
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
  const questions = (): Promise<string> => readFile(join(work, 'asked'), 'utf8').catch(() => '')
  /** The updates of an app that came by a package. @param answer of the system to the question for the rights */
  const managed = async (answer: string): Promise<Updates> => {
    await writeFile(join(work, 'pkexec'), `#!/bin/sh\necho "$@" >> '${work}/asked'\n${answer}\n`, { mode: 0o755 })
    vi.stubEnv('PATH', `${work}:/usr/bin:/bin`)
    onTestFinished(() => void vi.unstubAllEnvs())
    answers['/updates/latest-linux.yml'] = description('0.3.0', newApp, deb)
    answers[`/updates/${deb}`] = newApp
    const machine = {
      platform: 'linux',
      arch: 'x64',
      isPackaged: true,
      program: '/nowhere',
      appImage: undefined,
      isManagedPackage: async () => true,
      asksAdministrator: async () => false,
    } as const
    return await checked(address, { machine })
  }

  test('is installed by apt once the system has the rights, and the app restarts', async () => {
    const updates = await managed('exit 0')
    const path = join(work, 'updates', deb)
    expect(updates.view()).toMatchObject({ way: 'package', file: path, command: `sudo apt install ${path}` })
    expect(await updates.install()).toBe(true)
    const sha512 = createHash('sha512').update(newApp).digest('hex')
    // Root compares the file with both.
    expect(await questions()).toMatch(new RegExp(`^/bin/sh -c [^]* sh ${path} ${newApp.length} ${sha512}\n$`))
    expect(restarts).toBe(1)
    expect(startUpdates({ version: '0.3.0' }).wasUpdated).toBe(true)
  })

  test('without the rights the app goes on and says so; the next attempt counts', async () => {
    const updates = await managed(`[ -e '${work}/given' ] || exit 126`)
    expect(await updates.install()).toBe(false)
    expect(restarts).toBe(0)
    expect(updates.view()).toMatchObject({
      state: 'idle',
      problem: { name: 'notAllowed' },
      release: { version: '0.3.0' },
    })
    await writeFile(join(work, 'given'), '')
    expect(await updates.install()).toBe(true)
    expect(restarts).toBe(1)
  })

  test('is never installed by itself: nobody would be there to give the rights', async () => {
    const updates = await managed('exit 0')
    updates.set({ source: address, install: 'quiet', hour: null })
    vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'Date'] })
    updates.start()
    await minutes(30)
    vi.useRealTimers()
    expect([await questions(), restarts]).toEqual(['', 0])
  })
})

// The programs of Windows are scripts here, found by their whole names.
describe.skipIf(process.platform === 'win32')('an installer for Windows', () => {
  const setup = 'Roomdesk-0.3.0.exe'
  /** The updates of an app for Windows. @param script that the installer is */
  const onWindows = async (script: string, change: Partial<UpdatesOptions> = {}, asks = false): Promise<Updates> => {
    const powershell = join(work, 'C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe')
    await writeFile(powershell, `#!/bin/sh\necho '{"status":"NotSigned","signer":null}'\n`, { mode: 0o755 })
    vi.stubEnv('PATH', `${work}:/usr/bin:/bin`)
    vi.stubEnv('SystemRoot', undefined)
    onTestFinished(() => void vi.unstubAllEnvs())
    const installer = Buffer.from(`#!/bin/sh\necho run >> '${work}/runs'\n${script}\n`)
    answers['/updates/latest.yml'] = description('0.3.0', installer, setup)
    answers[`/updates/${setup}`] = installer
    const machine = {
      platform: 'win32',
      arch: 'x64',
      isPackaged: true,
      program: '/nowhere',
      appImage: undefined,
      isManagedPackage: async () => false,
      asksAdministrator: async () => asks,
    } as const
    const updates = await checked(address, { machine, ...change })
    // Windows runs a file without such a mode.
    await chmod(updates.view().file, 0o755)
    return updates
  }
  const runs = async (): Promise<number> =>
    (await readFile(join(work, 'runs'), 'utf8').catch(() => '')).split('\n').length - 1

  test('that ends although the app goes on has failed: people in rooms are told, and the operator may try again', async () => {
    occupied = true
    const updates = await onWindows('exit 5')
    vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'Date'] })
    await updates.installWithWarning()
    await minutes(2.1)
    vi.useRealTimers()
    await expect.poll(() => warnings).toEqual([120_000, 'called off'])
    expect(updates.view()).toMatchObject({
      ...{ state: 'idle', installs_at: 0, release: { version: '0.3.0' } },
      problem: { name: 'installerEnded', detail: '5' },
    })
    // Nothing was installed: the next start has nothing to tell.
    expect(startUpdates().view().problem).toBeNull()
    expect(await updates.install()).toBe(false)
    expect(await runs()).toBe(2)
  })

  test('that fails after it has ended the app is told by the next start', async () => {
    const updates = await onWindows('exit 1', { isEnding: () => true })
    expect(await updates.install()).toBe(true)
    expect(updates.view()).toMatchObject({ state: 'installing', problem: null })
    expect(startUpdates().view().problem).toMatchObject({ name: 'notInstalled' })
  })

  test('that neither ends nor ends the app is not waited for', async () => {
    await writeFile(join(work, setup), '#!/bin/sh\nexec sleep 3\n', { mode: 0o755 })
    await expect(runInstaller(join(work, setup), 100)).rejects.toMatchObject({ problem: 'installerHangs' })
  })

  test('for which Windows asks an administrator never runs by itself', async () => {
    occupied = false
    const updates = await onWindows('exit 0', {}, true)
    expect(updates.view().way).toBe('elevated')
    updates.set({ source: address, install: 'quiet', hour: null })
    vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'Date'] })
    updates.start()
    await minutes(30)
    vi.useRealTimers()
    expect(await runs()).toBe(0)
    await updates.install()
    expect(await runs()).toBe(1)
  })

  test.each([
    ['is in the registry', undefined, true],
    ['is not', 1, false],
    ['cannot be told', 'ENOENT', true],
  ])('asks an administrator if an installation for all users %s', async (_case, code, asks) => {
    const told: unknown[] = []
    const answer = async (...call: unknown[]): Promise<void> => {
      told.push(call)
      if (code !== undefined) throw Object.assign(new Error('reg.exe'), { code })
    }
    expect(await asksAdministrator(answer, {})).toBe(asks)
    const key = 'HKLM\\Software\\4da761ad-57a4-5b68-bee6-bfc02f47c2be'
    const args = ['query', key, '/v', 'InstallLocation', '/reg:64']
    expect(told).toEqual([['C:\\Windows\\System32\\reg.exe', args]])
  })
})

const minutes = (n: number): Promise<unknown> => vi.advanceTimersByTimeAsync(n * 60_000)

describe('with people in rooms', () => {
  const warned = async (change: Partial<UpdatesOptions> = {}): Promise<Updates> => {
    occupied = true
    const updates = await checked(address, change)
    vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'Date'] })
    await updates.installWithWarning()
    return updates
  }

  test('they are warned, and it is installed two minutes later', async () => {
    const updates = await warned()
    expect([warnings, restarts]).toEqual([[120_000], 0])
    expect(updates.view().installs_at).toBe(Date.now() + 120_000)
    // A second click changes nothing.
    await updates.installWithWarning()
    await minutes(1.9)
    expect(await installed()).toContain('echo old')
    await minutes(0.2)
    vi.useRealTimers()
    await expect.poll(() => restarts).toBe(1)
    expect(await readFile(appImage)).toEqual(newApp)
    expect([warnings, updates.view().installs_at]).toEqual([[120_000], 0])
  })

  test.each<[string, (updates: Updates) => unknown]>([
    ['the operator cancels', (updates) => updates.cancel()],
    ['the operator names another place', (updates) => updates.set({ source: '', install: 'ask', hour: null })],
  ])('it is called off, and they are told, when %s', async (_case, act) => {
    const updates = await warned()
    await minutes(1)
    await act(updates)
    await minutes(5)
    expect([warnings, restarts, updates.view().installs_at]).toEqual([[120_000, 'called off'], 0, 0])
    expect(await installed()).toContain('echo old')
  })

  test('they are told as well when it cannot be installed after all', async () => {
    const updates = await warned()
    await writeFile(updates.view().file, 'something else')
    await minutes(2.1)
    vi.useRealTimers()
    await expect.poll(() => warnings).toEqual([120_000, 'called off'])
    expect(updates.view()).toMatchObject({ installs_at: 0, state: 'idle', problem: { name: 'checksum' } })
    expect(restarts).toBe(0)
  })

  test('nothing is installed when they cannot be warned', async () => {
    await expect(warned({ warnPeople: () => Promise.reject(new Error('stopping')) })).rejects.toThrow('stopping')
    await minutes(5)
    expect(restarts).toBe(0)
  })
})

describe('at a quiet moment', () => {
  /** Time passes while the disk works. */
  const installedByItself = (): Promise<void> =>
    vi.waitFor(
      async () => {
        await minutes(0.5)
        expect(restarts).toBe(1)
      },
      { timeout: 20_000 },
    )
  const begin = async (hour: number | null): Promise<void> => {
    vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'Date'], now: new Date(2026, 10, 26, 1, 0) })
    await putDescription()
    await writeFile(join(release, file), newApp)
    const updates = await checked(release)
    updates.set({ source: release, install: 'quiet', hour })
    updates.start()
  }

  test('it is installed by itself once nobody was in a room for five minutes', async () => {
    occupied = true
    await begin(null)
    await minutes(30)
    occupied = false
    await minutes(4)
    // Somebody came back.
    occupied = true
    await minutes(1)
    occupied = false
    await minutes(4)
    expect(restarts).toBe(0)
    await installedByItself()
  })

  test('an app that came back as it was does not try again by itself', async () => {
    const preferences = new PreferencesFile(join(work, 'window.json'), logger)
    preferences.set({ updates: { source: release, install: 'quiet', hour: null, installing: '0.3.0' } })
    await putDescription()
    await writeFile(join(release, file), newApp)
    vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'Date'] })
    const updates = startUpdates()
    updates.start()
    await minutes(2)
    await vi.waitFor(
      () => expect(updates.view()).toMatchObject({ state: 'idle', release: { version: '0.3.0' } }),
      20_000,
    )
    await minutes(30)
    expect(restarts).toBe(0)
    expect(updates.view().problem).toMatchObject({ name: 'notInstalled' })
    // The operator may.
    await updates.install()
    expect(restarts).toBe(1)
  })

  test('not before its hour, and not while nobody knows', async () => {
    await begin(3)
    await minutes(110)
    expect(restarts).toBe(0)
    occupied = undefined
    await minutes(15)
    expect(restarts).toBe(0)
    occupied = false
    await installedByItself()
  })
})

describe('on Windows an installer is proven by its signature', () => {
  const signed = (status: string, signer: string | null): Signature => ({ status, signer })
  const prove = (own: Signature, installer: Signature): Promise<void> =>
    proveSignature('setup.exe', 'Roomdesk.exe', (path) => Promise.resolve(path === 'Roomdesk.exe' ? own : installer))

  test('by the same signer as the running app', async () => {
    await prove(signed('Valid', 'CN=Maker'), signed('Valid', 'CN=Maker'))
  })

  test.each([
    ['by another', signed('Valid', 'CN=Maker'), signed('Valid', 'CN=Other')],
    ['by nobody', signed('Valid', 'CN=Maker'), signed('NotSigned', null)],
    ['before it was changed', signed('Valid', 'CN=Maker'), signed('HashMismatch', 'CN=Maker')],
    ['as the app, whose own signature is broken', signed('HashMismatch', 'CN=Maker'), signed('Valid', 'CN=Maker')],
  ])('signed %s it is refused', async (_case, own, installer) => {
    await expect(prove(own, installer)).rejects.toMatchObject({ problem: 'signature' })
  })

  test('an app that is not signed itself has the key of its publisher alone', async () => {
    await prove(signed('NotSigned', null), signed('NotSigned', null))
  })
})
