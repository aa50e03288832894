import { cp, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { PreferencesFile } from '../../../main/preferences.ts'
import { programFiles, ReplacedProgram, restartWhenReplaced } from '../../../main/updates/replaced-program.ts'
import { Updates } from '../../../main/updates/updates.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'
import { UpdatePublisher } from '../../support/update-publisher.ts'

const logger = pino({ level: 'silent' })

async function replace(path: string, content: string): Promise<void> {
  await writeFile(`${path}.new`, content)
  await rename(`${path}.new`, path)
}

test('a program counts as replaced once its new file stays the same', async () => {
  const path = join(await temporaryFolder(), 'roomdesk')
  await writeFile(path, 'old')
  const program = new ReplacedProgram([path])
  const look = async (): Promise<boolean> => await program.look()
  expect([await look(), await look()]).toEqual([false, false])
  await replace(path, 'half')
  expect(await look()).toBe(false)
  await replace(path, 'whole')
  expect([await look(), await look()]).toEqual([false, true])
})

/** Makes a bundle of macOS. */
async function makeBundle(path: string, version: string): Promise<string> {
  await mkdir(join(path, 'Contents/MacOS'), { recursive: true })
  await mkdir(join(path, 'Contents/Resources'))
  await writeFile(join(path, 'Contents/MacOS/Roomdesk'), 'the same in every version')
  await writeFile(join(path, 'Contents/Info.plist'), version)
  await writeFile(join(path, 'Contents/Resources/app.asar'), version)
  return join(path, 'Contents/MacOS/Roomdesk')
}

const onMac = { platform: 'darwin', isPackaged: true, appImage: undefined } as const

test('a bundle of macOS counts as replaced once the new one is complete', async () => {
  const folder = await temporaryFolder()
  const bundle = join(folder, 'Roomdesk.app')
  const app = new ReplacedProgram(programFiles({ ...onMac, program: await makeBundle(bundle, '1') }))
  expect([await app.look(), await app.look()]).toEqual([false, false])
  await rename(bundle, join(folder, 'Trash'))
  expect([await app.look(), await app.look()]).toEqual([false, false])
  await makeBundle(join(folder, 'new.app'), '2')
  // Copied, as Finder does: the resources come last.
  await cp(join(folder, 'new.app'), bundle, { recursive: true, filter: (path) => !path.includes('Resources') })
  expect([await app.look(), await app.look()]).toEqual([false, false])
  await cp(join(folder, 'new.app'), bundle, { recursive: true })
  expect([await app.look(), await app.look()]).toEqual([false, true])
})

test('a bundle with an unchanged executable counts as replaced by its Info.plist', async () => {
  const bundle = join(await temporaryFolder(), 'Roomdesk.app')
  const app = new ReplacedProgram(programFiles({ ...onMac, program: await makeBundle(bundle, '1') }))
  expect(await app.look()).toBe(false)
  await replace(join(bundle, 'Contents/Info.plist'), '2')
  expect([await app.look(), await app.look()]).toEqual([false, true])
})

test('Windows replaces no running program, and an app that is not installed is never replaced', () => {
  const program = 'C:\\Roomdesk\\Roomdesk.exe'
  expect(programFiles({ ...onMac, platform: 'win32', program })).toEqual([])
  expect(programFiles({ ...onMac, isPackaged: false, program: '/a/b/c' })).toEqual([])
})

test('a service with a replaced bundle restarts once, after five minutes without anybody in a room', async () => {
  const folder = await temporaryFolder()
  const bundle = join(folder, 'Roomdesk.app')
  const files = programFiles({ ...onMac, program: await makeBundle(bundle, '1') })
  let occupied = true
  let restarts = 0
  const halfHour = async (): Promise<void> => {
    for (let half = 0; half < 60; half++) {
      await vi.advanceTimersByTimeAsync(30_000)
      // The looks of the service come before these.
      for (let own = 0; own < 4; own++) await stat(folder)
    }
  }
  vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'clearInterval', 'clearTimeout', 'Date'] })
  restartWhenReplaced(
    files,
    () => occupied,
    () => (restarts += 1),
  )
  await halfHour()
  await rm(bundle, { recursive: true })
  await makeBundle(bundle, '2')
  await halfHour()
  expect(restarts).toBe(0)
  occupied = false
  await vi.waitFor(async () => {
    await halfHour()
    expect(restarts).toBe(1)
  }, 20_000)
  await halfHour()
  expect(restarts).toBe(1)
})

test('a replaced app restarts by itself at a quiet moment, even without an update source', async () => {
  const folder = await temporaryFolder()
  const program = join(folder, 'roomdesk')
  await writeFile(program, 'old')
  let occupied = true
  let restarts = 0
  const start = (): Updates =>
    new Updates({
      preferences: new PreferencesFile(join(folder, 'window.json'), logger),
      logger,
      folder: join(folder, 'updates'),
      version: '0.2.0',
      keys: [new UpdatePublisher().publicKey],
      machine: {
        ...{ platform: 'linux', arch: 'x64', isPackaged: true, program, appImage: undefined },
        isManagedPackage: async () => true,
        asksAdministrator: async () => false,
      },
      open: async () => '',
      isOccupied: () => occupied,
      warnPeople: async () => undefined,
      restart: () => (restarts += 1),
      isEnding: () => false,
      onChange: () => undefined,
    })
  /** Time passes while the disk works. */
  const halfHour = async (): Promise<void> => {
    for (let half = 0; half < 60; half++) {
      await vi.advanceTimersByTimeAsync(30_000)
      // The look of the app comes before these.
      for (let own = 0; own < 4; own++) await stat(program)
    }
  }
  vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'clearInterval', 'clearTimeout', 'Date'] })
  start().start()
  await halfHour()
  await replace(program, 'new')
  await halfHour()
  expect(restarts).toBe(0)
  occupied = false
  await vi.waitFor(async () => {
    await halfHour()
    expect(restarts).toBe(1)
  }, 20_000)
  // Its walls open again, and nothing failed.
  const next = start()
  expect([next.wasUpdated, next.view().problem]).toEqual([true, null])
  expect(start().wasUpdated).toBe(false)
})
