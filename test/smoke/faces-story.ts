import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { productVersion } from '../../server/bin/version.ts'
import { readyLines } from '../support/headless.ts'
import { NotHere, type Report } from './report.ts'
import { launchAgain, launchProgram, type Program, RunningApp } from './running-app.ts'

/** The app, and the data of its story. */
export interface ToldApp {
  program: Program
  /** Folder of the user's data, with the site. */
  folder: string
}

/** Tells of the same program without a window, of a start after a kill, and of the end that an installer asks for. */
export async function tellOfOtherFaces(report: Report, name: (item: string) => string, told: ToldApp): Promise<void> {
  await report.check(name('version'), () => printVersion(told))
  await report.check(name('headless'), () => runWithoutWindow(told))
  await report.check(name('stale-lock'), () => startAfterKill(told))
  await report.check(name('quit'), () => quitByCommand(told))
}

async function printVersion({ program }: ToldApp): Promise<string> {
  const child = launchProgram(program, ['--version'])
  if (child.stdout === null) throw new Error('it has no stdout')
  const printed = (await text(child.stdout)).trim()
  // A program of Windows with a window prints only where its output is redirected, as here.
  if (printed !== productVersion) throw new Error(`it printed ${JSON.stringify(printed)}`)
  return printed
}

/** Opens the app's own site without a window, until a signal ends it. */
async function runWithoutWindow({ program, folder }: ToldApp): Promise<string> {
  const ports = ['media', 'device', 'node', 'console'].map((port) => `--${port}-port=0`)
  const folders = [`--user-data-dir=${folder}`, `--data-dir=${join(folder, 'site')}`]
  const child = launchProgram(program, ['--headless', ...folders, ...ports])
  const ended = once(child, 'exit')
  let written = ''
  child.stderr?.on('data', (chunk: Buffer) => (written += chunk.toString()))
  if (child.stdout === null) throw new Error('it has no stdout')
  const ready = (await readyLines(child.stdout).next()).value
  if (ready === undefined) throw new Error(`it was never ready; it wrote:\n${written.slice(-2_000)}`)
  const { status } = await fetch(`${ready.console}/healthz`)
  child.kill('SIGTERM')
  const [code] = (await ended) as [number | null]
  if (status !== 200) throw new Error(`/healthz was answered with ${status}`)
  if (code !== 0 && process.platform !== 'win32') throw new Error(`it ended with ${code ?? 'a signal'}`)
  return ready.console
}

/** Kills the app, whose lock of the folder stays behind, and starts it again. */
async function startAfterKill({ program, folder }: ToldApp): Promise<string> {
  const first = await RunningApp.start(program, folder)
  await first.kill()
  await using again = await RunningApp.start(program, folder)
  const { items } = await again.call('rooms.list', {})
  return `${items.length} room after a kill`
}

/** Ends the running app as an installer does. */
async function quitByCommand({ program, folder }: ToldApp): Promise<string> {
  if (program.isStandIn && process.platform === 'win32') throw new NotHere('the stand-in does not run on Windows')
  await using app = await RunningApp.start(program, folder)
  const began = performance.now()
  const [asked, { code, signal }] = await Promise.all([launchAgain(program, folder, ['--quit']), app.ended()])
  if (code !== 0) throw new Error(`the app ended with ${signal ?? code}`)
  if (asked.code !== 0) throw new Error(`the command ended with ${asked.signal ?? asked.code}`)
  return `in ${Math.round(performance.now() - began)} ms`
}
