import { mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { app } from 'electron'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { followInstallers, type InstallerRestartOptions, startAfterInstaller } from '../../main/installer-restart.ts'
import { parseQuitRequest } from '../../main/quit-requests.ts'
import { askOthers } from '../../main/quit-running.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'

const logger = pino({ level: 'silent' })

/** An app of one of several users, started from a folder that an administrator may write. */
async function runningApp(more: Partial<InstallerRestartOptions> = {}) {
  const folder = await temporaryFolder()
  const file = join(folder, 'quit-request')
  const done: string[] = []
  vi.spyOn(app, 'quit').mockImplementation(() => void done.push('quit'))
  const start = (): void => {
    const requests = followInstallers({
      ...{ logger, folder, isQuitting: () => false, prepare: () => done.push('prepared') > 0, wait: () => undefined },
      startAfter: async (installer) => void done.push(`starts after ${installer}`),
      ...more,
    })
    onTestFinished(() => requests?.close())
  }
  return { folder, file, done, start }
}

test('an app that an installer asks to close shuts down cleanly, and starts again after the installer', async () => {
  const { file, done, start } = await runningApp()
  start()
  await writeFile(file, 'restart-after 4711\r\n')
  await expect.poll(() => done).toEqual(['prepared', 'starts after 4711', 'quit'])
  // One request counts, however many follow.
  for (const text of ['restart-after 1\r\n', 'quit\n']) await writeFile(file, text)
  await rm(file)
  expect(done).toHaveLength(3)
})

test('an app that runs its own update is started by that installer, and one that cannot wait for an installer shuts down all the same', async () => {
  const own = await runningApp({ prepare: () => false })
  own.start()
  await writeFile(own.file, 'restart-after 4711\r\n')
  await expect.poll(() => own.done).toEqual(['quit'])
  const without = await runningApp({ startAfter: () => Promise.reject(new Error('PowerShell is blocked')) })
  without.start()
  await writeFile(without.file, 'restart-after 4711\r\n')
  await expect.poll(() => without.done).toEqual(['prepared', 'quit'])
})

test('the app shuts down only after the process that restarts it has started: Windows would otherwise end it with the app', async () => {
  const begun = Promise.withResolvers<void>()
  const waited: Promise<void>[] = []
  const { file, start } = await runningApp({ startAfter: () => begun.promise, wait: (started) => waited.push(started) })
  start()
  await writeFile(file, 'restart-after 4711\r\n')
  await expect.poll(() => waited).toHaveLength(1)
  let isStarted = false
  void waited[0]?.then(() => (isStarted = true))
  await new Promise(setImmediate)
  expect(isStarted).toBe(false)
  begun.resolve()
  await waited[0]
})

test('an app that a user quits stays closed', async () => {
  const asked = await runningApp()
  asked.start()
  expect(await askOthers(asked.folder)).toBe(true)
  await expect.poll(() => asked.done).toEqual(['quit'])
  // It ends already when the installer asks.
  let asks = 0
  const ending = await runningApp({ isQuitting: () => (asks += 1) > 0 })
  ending.start()
  await writeFile(ending.file, 'restart-after 4711\r\n')
  await expect.poll(() => asks).toBe(1)
  expect(ending.done).toEqual([])
})

test('an app whose folder cannot be watched runs all the same', async () => {
  const { start, done } = await runningApp({ folder: '/nowhere/Roomdesk' })
  start()
  expect(done).toEqual([])
})

test('a request of an installer is not replaced by roomdesk --quit, and a user without write access to its folder cannot make one', async () => {
  const { folder, file } = await runningApp()
  await writeFile(file, 'restart-after 4711\r\n')
  expect(await askOthers(folder)).toBe(false)
  expect(await askOthers(join(folder, 'missing'))).toBe(false)
})

test('an invalid request, or one for an earlier process, has no effect', async () => {
  const { folder, file, done, start } = await runningApp()
  await writeFile(file, 'quit\n')
  await utimes(file, new Date(0), new Date(0))
  start()
  // Noticed, and older than the app.
  await utimes(file, new Date(0), new Date(1_000))
  await rm(file)
  await mkdir(file)
  await rm(file, { recursive: true })
  for (const text of ['', 'quit', 'quit now\n', 'restart-after x\n', `${' '.repeat(100_000)}quit\n`])
    for (let i = 0; i < 20; i++) await writeFile(file, text)
  for (const name of ['Roomdesk.exe', 'LICENSE']) await writeFile(join(folder, name), 'quit\n')
  expect(done).toEqual([])
  // It still listens, also for a file that comes whole.
  await writeFile(join(folder, 'new'), 'quit\n')
  await rename(join(folder, 'new'), file)
  await expect.poll(() => done).toEqual(['quit'])
})

test.each([
  ['quit\n', { kind: 'quit' }],
  ['restart-after 12\r\n', { kind: 'restart', after: 12 }],
  ['restart-after 12', undefined],
  ['restart-after -1\n', undefined],
  ['restart-after 1; calc\n', undefined],
  ['quit\nquit\n', undefined],
])('the request %j is read as %j', (text, request) => {
  expect(parseQuitRequest(text)).toEqual(request)
})

test('the process that waits for the installer is a Windows process without a window, and outlives the app', async () => {
  vi.stubEnv('SystemRoot', 'D:\\Windows')
  onTestFinished(() => void vi.unstubAllEnvs())
  const run = vi.fn(() => Promise.resolve())
  await startAfterInstaller(4711, ['--hidden', '--site=C:\\My files\\'], run)
  const [[program, args, { env, ...options }]] = run.mock.calls as unknown as [
    [string, string[], { env: Record<string, string>; cwd: string }],
  ]
  expect(program).toBe('D:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe')
  // Windows ends the children of the app with it, unless they are detached, which PowerShell does not survive: this one starts another.
  expect(args.at(-1)).toContain('Start-Process -FilePath $env:ROOMDESK_SHELL -WindowStyle Hidden')
  expect(options).toMatchObject({ cwd: 'D:\\Windows', windowsHide: true })
  expect(options).not.toHaveProperty('detached')
  expect(env).toMatchObject({
    ...{ ROOMDESK_APP: String(process.pid), ROOMDESK_INSTALLER: '4711', ROOMDESK_PROGRAM: app.getPath('exe') },
    ROOMDESK_ARGUMENTS: '--hidden "--site=C:\\My files\\\\"',
  })
  const script = Buffer.from(env.ROOMDESK_SCRIPT ?? '', 'base64').toString('utf16le')
  expect(script).toContain('Get-Process -Id $env:ROOMDESK_APP, $env:ROOMDESK_INSTALLER')
  expect(script).not.toContain('My files')
})
