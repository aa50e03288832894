import { mkdtemp, rm } from 'node:fs/promises'
import { release, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { tellAppStory } from './app-story.ts'
import { checkInstallers } from './installers.ts'
import { help, readOptions, type SmokeOptions } from './options.ts'
import { checkPacked, pack } from './packed.ts'
import { askQuestions } from './questions.ts'
import { Report } from './report.ts'
import { tellOfStart } from './start-story.ts'
import { checkUnpacked } from './unpacked.ts'
import { checkUpgrades } from './upgrades.ts'

const root = resolve(import.meta.dirname, '../..')

/** Facts about the machine from the command that starts this. */
export interface Machine {
  /** Undefined: Electron's binary is not installed. */
  electron: { program: string; folder: string } | undefined
  /** Reason why no window can open, if there is one. */
  noWindow: string | undefined
  /** Updates the build. */
  build: () => Promise<unknown>
}

/** Exit code without a result: no Electron, no display, or an invalid command line. */
const cannotBegin = 2

/**
 * Runs the requested items and prints the results.
 * @returns the exit code: 0, 1 if an item failed, 2 if it cannot start
 */
export async function runSmoke(args: readonly string[], machine: Machine): Promise<number> {
  let options: SmokeOptions
  try {
    options = readOptions(args)
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    return cannotBegin
  }
  if (options.help) {
    console.log(help)
    return 0
  }
  const obstacle = options.standIn ? undefined : obstacleOf(machine)
  if (obstacle !== undefined) {
    console.error(obstacle)
    return cannotBegin
  }
  const report = new Report({
    print: (line) => console.log(line),
    only: options.only,
    ...(options.standIn ? { mark: 'stand-in' } : {}),
  })
  await machine.build()
  if (options.standIn) await rehearse(report)
  else if (machine.electron !== undefined) await runAll(report, options, machine.electron)
  console.log(report.summary())
  const system = `${process.platform} ${release()} ${process.arch}`
  if (options.report !== undefined) report.write(options.report, { system, at: new Date().toISOString() })
  return report.exitCode
}

/** Names the missing requirement, and how to install it. */
function obstacleOf({ electron, noWindow }: Machine): string | undefined {
  if (electron === undefined)
    return "Electron's binary is not here. Get it with: npx --no-install install-electron (or name a folder that holds it in ELECTRON_OVERRIDE_DIST_PATH)."
  if (noWindow === undefined) return undefined
  const remedy = noWindow.includes('display')
    ? 'start this in a desktop session, or with a window manager under xvfb-run'
    : 'start this as the user who will use it'
  return `${noWindow}: ${remedy}.`
}

/** Runs the parts "start" and "app" on the stand-in, and says so in each line. */
async function rehearse(report: Report): Promise<void> {
  console.log('A rehearsal on the stand-in of the tests: it shows that this command works, and nothing of Electron.')
  // The stand-in only looks whether the variable is set.
  process.env.DISPLAY ||= ':0'
  await tellOfStart(report, join(root, 'test/standin'))
  await tellAppStory(report, 'app', {
    executable: join(root, 'test/standin/electron'),
    args: [root],
    isStandIn: true,
  })
}

async function runAll(
  report: Report,
  options: SmokeOptions,
  electron: NonNullable<Machine['electron']>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-smoke-pack-'))
  try {
    await tellOfStart(report, process.env.ELECTRON_OVERRIDE_DIST_PATH)
    await checkUnpacked(report)
    if (['packed', 'app', 'upgrades', 'questions'].some((part) => report.wants(part))) {
      const packed = await report.prepare('packed.pack', () => pack(electron.folder, folder), 10 * 60_000)
      if (packed !== undefined) {
        await checkPacked(report, packed)
        const program = { executable: packed.executable, args: [], isStandIn: false }
        await tellAppStory(report, 'app', program)
        await checkInstallers(report, electron.folder, folder)
        await checkUpgrades(report, packed, electron.folder)
        await askQuestions(report, { skip: options.skipQuestions }, program)
        return
      }
      for (const part of ['app', 'upgrades', 'questions']) report.skip(part, 'it needs the packed app')
    }
    await checkInstallers(report, electron.folder, folder)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10 }).catch(() => undefined)
  }
}
