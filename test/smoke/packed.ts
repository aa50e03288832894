import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type PackedApp, packedApp } from '../support/packed-app.ts'
import { checkFuses } from '../support/packed-fuses.ts'
import { checkArchitecture, checkNatives } from '../../packaging/natives.ts'
import { NotHere, type Report } from './report.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

/** The app as packed by electron-builder. */
export type Packed = PackedApp & { toString: () => string }

/**
 * Runs `npm run package`.
 * @param targets as on its command line
 * @param electronFolder left out: the app is packed already
 */
export async function build(
  targets: readonly string[],
  electronFolder: string | undefined,
  output: string,
): Promise<void> {
  const command = join(root, 'scripts/package.mjs')
  const electron = electronFolder === undefined ? [] : [`-c.electronDist=${electronFolder}`]
  const overrides = [...electron, `-c.directories.output=${output}`]
  try {
    await run(process.execPath, [command, ...targets, '--publish', 'never', ...overrides], {
      cwd: root,
      maxBuffer: 16 * 1024 * 1024,
    })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    const said = `${stdout}\n${stderr}`.trim().split('\n').slice(-12).join('\n')
    throw new Error(`npm run package failed:\n${said}`, { cause: error })
  }
}

/**
 * Makes one installer.
 * @param file pattern of its name
 * @returns its path
 */
export async function buildInstaller(
  targets: readonly string[],
  electronFolder: string | undefined,
  output: string,
  file: RegExp,
): Promise<string> {
  await build(targets, electronFolder, output)
  const made = (await readdir(output)).find((entry) => file.test(entry))
  if (made === undefined) throw new Error(`electron-builder made no installer in ${output}`)
  return join(output, made)
}

/** Packs the app for this machine, into a folder. */
export async function pack(electronFolder: string, output: string): Promise<Packed> {
  const packed = packedApp(output, process.platform, process.arch)
  await build(packed.target, electronFolder, output)
  if (!existsSync(packed.executable)) throw new Error(`electron-builder made no ${packed.executable}`)
  return { ...packed, toString: () => packed.executable }
}

/** Checks a packed app without starting it. */
export async function checkPacked(report: Report, packed: PackedApp): Promise<void> {
  await report.check('packed.fuses', () => checkFuses(packed.executable))
  await report.check('packed.signature', () => checkSignature(packed.executable))
  await report.check('packed.architecture', () =>
    checkArchitecture([packed.executable], process.platform, process.arch),
  )
  await report.check('packed.natives', () => checkNatives(packed.resources, process.platform, process.arch))
}

async function checkSignature(executable: string): Promise<string> {
  if (process.platform !== 'darwin') throw new NotHere('only macOS refuses to start what is signed wrongly')
  // …/Roomdesk.app/Contents/MacOS/Roomdesk
  const bundle = join(executable, '../../..')
  await run('codesign', ['--verify', '--deep', '--strict', bundle])
  const { stderr } = await run('codesign', ['--display', '--verbose=2', bundle])
  return stderr.includes('Signature=adhoc') ? 'ad hoc: it starts here, on other machines Gatekeeper warns' : 'signed'
}
