import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { app } from 'electron'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { environmentOutside } from '../../main/app-image.ts'
import { restartApp, startAppAgain } from '../../main/relaunch.ts'
import { takeRestarts } from '../../server/controller/restarts.ts'

const restarts = { times: [1], total: 1, ports: { media: 7080 } }
/** Calls of the app, in order. */
let calls: string[]

beforeEach(() => {
  calls = []
  vi.spyOn(app, 'relaunch').mockImplementation(() => void calls.push('relaunch'))
  vi.spyOn(app, 'exit').mockImplementation((code) => void calls.push(`exit ${code}`))
  vi.spyOn(app, 'releaseSingleInstanceLock').mockImplementation(() => void calls.push('release'))
  vi.stubEnv('APPIMAGE', undefined)
})
afterEach(() => {
  delete process.env.ROOMDESK_RESTARTS
})

/** Makes an AppImage that writes down how it was started. */
async function appImage(): Promise<{ file: string; started: () => Promise<string[]> }> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-appimage-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const file = join(folder, 'Roomdesk.AppImage')
  const script = '#!/bin/sh\nprintf "%s\\n" "$PWD" "$ROOMDESK_RESTARTS" "$@" > "$0.part"\nmv "$0.part" "$0.started"\n'
  await writeFile(file, script, { mode: 0o755 })
  const started = async (): Promise<string[]> =>
    (await readFile(`${file}.started`, 'utf8').catch(() => '')).trimEnd().split('\n')
  return { file, started }
}

test('the successor of the app receives the number of previous restarts', () => {
  startAppAgain(restarts)
  expect(calls).toEqual(['relaunch', 'exit 0'])
  expect(takeRestarts(process.env)).toEqual(restarts)
})

test.skipIf(process.platform === 'win32')(
  'an app that runs from an AppImage starts the file itself, once it has released its lock, and ends when that runs',
  async () => {
    const { file, started } = await appImage()
    vi.stubEnv('APPIMAGE', file)
    startAppAgain(restarts)
    await expect.poll(() => calls).toEqual(['release', 'exit 0'])
    await expect.poll(started).toEqual([process.cwd(), JSON.stringify(restarts), ...process.argv.slice(1)])
  },
)

test.skipIf(process.platform === 'win32')('an AppImage restarts only when the app has ended in order', async () => {
  const { file, started } = await appImage()
  vi.stubEnv('APPIMAGE', file)
  vi.spyOn(app, 'quit').mockImplementation(() => void calls.push('quit'))
  restartApp()
  expect(calls).toEqual(['quit'])
  let prevented = false
  app.emit('will-quit', { preventDefault: () => (prevented = true) })
  expect(prevented).toBe(true)
  await expect.poll(() => calls).toEqual(['quit', 'release', 'exit 0'])
  await expect.poll(started).toContain(process.argv[1] ?? '')
})

test('an AppImage whose file is missing ends with a failure', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  vi.stubEnv('APPIMAGE', '/nowhere/Roomdesk.AppImage')
  startAppAgain(restarts)
  await expect.poll(() => calls).toEqual(['release', 'exit 1'])
})

test('the successor of an AppImage inherits no folder of the mount point that ends', () => {
  const APPDIR = '/tmp/.mount_RoomdeX1'
  const mounted = {
    ...{
      APPDIR,
      APPIMAGE: '/home/ann/Roomdesk.AppImage',
      ARGV0: './Roomdesk.AppImage',
      OWD: '/home/ann',
      HOME: '/home/ann',
    },
    PATH: `${APPDIR}:${APPDIR}/usr/sbin:/usr/bin:/bin`,
    LD_LIBRARY_PATH: `${APPDIR}/usr/lib`,
    XDG_DATA_DIRS: `${APPDIR}/usr/share/:/usr/share/:/usr/share/gnome:/usr/local/share/:/usr/share/`,
    GSETTINGS_SCHEMA_DIR: `${APPDIR}/usr/share/glib-2.0/schemas`,
  }
  expect(environmentOutside(mounted)).toEqual({
    HOME: '/home/ann',
    PATH: '/usr/bin:/bin',
    XDG_DATA_DIRS: '/usr/share/:/usr/share/gnome:/usr/local/share/',
  })
  expect(environmentOutside({ PATH: '/bin' })).toEqual({ PATH: '/bin' })
})
