import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { AppInput, AppProcedureName } from '../../shared/app-contract.ts'
import type { ConsoleResult } from '../../shared/domain/outcome.ts'
import { freePort } from '../support/free-port.ts'
import { appImageObstacle } from './installers.ts'
import { buildInstaller, type Packed } from './packed.ts'
import { TestRelease } from './release-of-test.ts'
import { NotHere, type Report } from './report.ts'
import { RunningApp } from './running-app.ts'
import { until } from './until.ts'

const run = promisify(execFile)
const limitMs = 15 * 60_000

/** Upgrades a running app, in each way that this system has. */
export async function checkUpgrades(report: Report, packed: Packed, electronFolder: string): Promise<void> {
  if (!report.wants('upgrades')) return
  const work = await mkdtemp(join(tmpdir(), 'roomdesk-smoke-upgrade-'))
  try {
    await report.check('upgrades.appimage', () => updateAppImage(packed, work), limitMs)
    await report.check('upgrades.service', () => upgradeService(electronFolder, work), limitMs)
    await report.check('upgrades.system', () => upgradeAsSystem(electronFolder, work), limitMs)
  } finally {
    await rm(work, { recursive: true, force: true, maxRetries: 10 }).catch(() => undefined)
  }
}

/** Calls the app itself, like its page. */
async function callApp<N extends AppProcedureName>(app: RunningApp, name: N, input: AppInput<N>): Promise<void> {
  const asked = `roomdesk.callApp(${JSON.stringify(name)}, ${JSON.stringify(input)})`
  const result = (await app.page.evaluate(asked)) as ConsoleResult<unknown>
  if (!result.ok) throw new Error(`${name}: ${result.error.code}: ${result.error.message}`)
}

/** An AppImage finds a signed release, puts it in its own place, ends, and comes back as the new version with its rooms. */
async function updateAppImage(packed: Packed, work: string): Promise<string> {
  if (process.platform !== 'linux') throw new NotHere('only Linux has AppImages')
  const obstacle = appImageObstacle('/')
  if (obstacle !== undefined) throw new NotHere(obstacle)
  const release = new TestRelease(dirname(packed.executable), work)
  const old = await release.appImage('9.0.0')
  const next = await release.appImage('9.0.1')
  // The update takes the place of this copy.
  const executable = join(work, 'Roomdesk.AppImage')
  await copyFile(old.file, executable)
  const port = await freePort()
  const program = { executable, args: [], isStandIn: false }
  const data = join(work, 'data')
  await using app = await RunningApp.start(program, data, [`--media-port=${port}`])
  const { room_id } = await app.call('rooms.create', { topic: 'Kept' })
  await callApp(app, 'updates.set', { source: next.folder, install: 'ask', hour: null })
  await callApp(app, 'updates.check', {})
  await callApp(app, 'updates.install', { warn: false })
  await app.ended()
  const installed = await readFile(executable)
  if (!installed.equals(await readFile(next.file))) throw new Error('the AppImage is not the one of the release')
  // The successor has the same ports and data, and is no child of this process.
  const answers = async (): Promise<boolean> => (await fetch(`http://127.0.0.1:${port}/openapi.json`)).ok
  await until('the new version answers', answers, 60_000)
  await run(executable, ['--quit', `--user-data-dir=${data}`])
  await using again = await RunningApp.start(program, data)
  const { items } = await again.call('rooms.list', {})
  if (!items.some((room) => room.room_id === room_id)) throw new Error('its room is gone')
  return 'the new version came back by itself, with its room'
}

/** Path of the app when it is installed for all users. */
const forAllUsers = (): string => join(process.env.ProgramFiles ?? 'C:\\Program Files', 'Roomdesk', 'Roomdesk.exe')

/**
 * Installs the app for all users of Windows, until it is disposed.
 * @throws NotHere without the rights of an administrator, and where it would replace an installed app
 */
async function installForAllUsers(
  electronFolder: string,
  work: string,
): Promise<AsyncDisposable & { installer: string }> {
  if (process.platform !== 'win32') throw new NotHere('only Windows has this installer')
  await run('net.exe', ['session']).catch(() => {
    throw new NotHere('it needs a terminal with the rights of an administrator')
  })
  const folder = dirname(forAllUsers())
  if (existsSync(forAllUsers())) throw new NotHere(`Roomdesk is installed in ${folder}: remove it first`)
  const targets = ['--win', 'nsis', `--${process.arch}`]
  const installer = await buildInstaller(targets, electronFolder, join(work, 'nsis'), /Setup.*\.exe$/)
  await run(installer, ['/S', '/allusers'])
  return {
    installer,
    [Symbol.asyncDispose]: async () => {
      await run(join(folder, 'Uninstall Roomdesk.exe'), ['/S', '/allusers'])
      // It goes on in a process of its own.
      await until('the app is removed', () => !existsSync(forAllUsers()), 60_000)
    },
  }
}

const serviceRuns = async (): Promise<boolean> =>
  (await run('sc.exe', ['query', 'Roomdesk'])).stdout.includes('RUNNING')

/** The service runs again after an upgrade for all users. */
async function upgradeService(electronFolder: string, work: string): Promise<string> {
  await using installed = await installForAllUsers(electronFolder, work)
  try {
    await run(forAllUsers(), ['--install-service'])
    await until('the service runs', serviceRuns, 60_000)
    await run(installed.installer, ['/S', '/allusers'])
    await until('the service runs again', serviceRuns, 60_000)
    return 'it runs after the upgrade'
  } finally {
    await run(forAllUsers(), ['--remove-service']).catch(() => undefined)
  }
}

/** An installer that the system runs, as programs that distribute software do, ends the app of the user in order; it starts again. */
async function upgradeAsSystem(electronFolder: string, work: string): Promise<string> {
  await using installed = await installForAllUsers(electronFolder, work)
  const task = 'RoomdeskSmokeUpgrade'
  const data = join(work, 'as-system')
  try {
    const program = { executable: forAllUsers(), args: [], isStandIn: false }
    await using app = await RunningApp.start(program, data)
    const command = `"${installed.installer}" /S /allusers`
    const once = ['/ru', 'SYSTEM', '/sc', 'once', '/st', '00:00']
    await run('schtasks.exe', ['/create', '/f', '/tn', task, ...once, '/tr', command])
    await run('schtasks.exe', ['/run', '/tn', task])
    const ending = await app.ended()
    if (ending.code !== 0) throw new Error(`the app ended with ${ending.signal ?? ending.code}, not in order`)
    const runs = async (): Promise<boolean> =>
      (await run('tasklist.exe', ['/fi', 'imagename eq Roomdesk.exe'])).stdout.includes('Roomdesk.exe')
    await until('the app runs again', runs, 120_000)
    return 'it ended in order, and started again'
  } finally {
    await run('schtasks.exe', ['/delete', '/f', '/tn', task]).catch(() => undefined)
    await run(forAllUsers(), ['--quit', `--user-data-dir=${data}`]).catch(() => undefined)
  }
}
