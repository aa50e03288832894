import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { problemOf, UpdateProblem } from './update-problem.ts'

const run = promisify(execFile)
/** Time for a program to tell what it knows, in milliseconds. */
const answerMs = 5_000
/** Characters of apt's errors that are kept. */
const maxErrors = 4_000
/** Exit codes of pkexec(1): the dialog was dismissed; the rights were refused, or nothing asks for them. */
const refusals = [126, 127]

/** Tells whether a program came by a Debian package, and polkit is there to ask for the rights to replace it. */
export async function isManagedPackage(program: string): Promise<boolean> {
  try {
    await run('dpkg-query', ['--search', program], { timeout: answerMs })
    await run('pkexec', ['--version'], { timeout: answerMs })
    return true
  } catch {
    // One of the programs is missing: the operator installs by hand.
    return false
  }
}

/** Command that installs a package from a terminal. */
export function installCommand(file: string): string {
  const quoted = /^[\w./+-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`
  return `sudo apt install ${quoted}`
}

/** Installs a package over the running app, which goes on until it is restarted. The system asks for the password of an administrator. @throws UpdateProblem */
export async function installPackage(file: string): Promise<void> {
  const keepSettings = '--option=Dpkg::Options::=--force-confold'
  const child = spawn('pkexec', ['/usr/bin/apt-get', 'install', '--yes', keepSettings, file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-maxErrors)))
  const [code] = (await once(child, 'close').catch((error: unknown) => {
    throw problemOf(error, 'notStarted')
  })) as [number | null]
  if (code === 0) return
  if (code !== null && refusals.includes(code)) throw new UpdateProblem('notAllowed')
  const [last = ''] = errors.trim().split('\n').slice(-1)
  throw new UpdateProblem('packageFailed', last.replace(/^E: /, ''))
}
