import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import type { VerifiedRelease } from './release.ts'
import { problemOf, UpdateProblem } from './update-problem.ts'

const run = promisify(execFile)
/** Timeout of a query program, in milliseconds. */
const answerMs = 5_000
/** Maximum number of characters of apt's errors kept. */
const maxErrors = 4_000
/**
 * Exit codes of pkexec(1). 126: the dialog was dismissed; 127: the rights were refused, or no authentication agent is
 * running.
 */
const refusals = [126, 127]
/** Exit code of the script if the file does not have the announced checksum. */
const otherFile = 65

/**
 * Whether a program was installed from a Debian package, and polkit's pkexec is available to request the rights to
 * replace the package.
 */
export async function isManagedPackage(program: string): Promise<boolean> {
  try {
    await run('dpkg-query', ['--search', program], { timeout: answerMs })
    await run('pkexec', ['--version'], { timeout: answerMs })
    return true
  } catch {
    // One of the programs is missing: the operator has to install updates manually.
    return false
  }
}

/** Returns the command that installs a package from a terminal. */
export function debianInstallCommand(file: string): string {
  const quoted = /^[\w./+-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`
  return `sudo apt install ${quoted}`
}

/**
 * Shell script that installs a package; runs as root. The user can replace the downloaded file before the password is
 * entered. The script therefore works on a copy that other users cannot access until its checksum has been compared.
 * Arguments: the downloaded file, its size in bytes, its SHA-512 in hexadecimal.
 */
const installScript = `set -e
umask 022
folder=$(mktemp -d /var/tmp/roomdesk-update.XXXXXXXXXX)
trap 'rm -rf "$folder"' EXIT
head -c "$2" "$1" >"$folder/roomdesk.deb"
echo "$3  $folder/roomdesk.deb" | sha512sum --check --status || exit ${otherFile}
chmod 755 "$folder"
apt-get install --yes --option=Dpkg::Options::=--force-confold "$folder/roomdesk.deb"`

/**
 * Installs a package over the running app, which continues until it is restarted. The system asks for the password of
 * an administrator.
 * @throws UpdateProblem
 */
export async function installPackage(path: string, release: VerifiedRelease): Promise<void> {
  const sha512 = Buffer.from(release.sha512, 'base64').toString('hex')
  const child = spawn('pkexec', ['/bin/sh', '-c', installScript, 'sh', path, String(release.size), sha512], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-maxErrors)))
  const [code] = (await once(child, 'close').catch((error: unknown) => {
    throw problemOf(error, 'notStarted')
  })) as [number | null]
  if (code === 0) return
  if (code === otherFile) throw new UpdateProblem('checksum', release.file)
  if (code !== null && refusals.includes(code)) throw new UpdateProblem('notAllowed')
  const [last = ''] = errors.trim().split('\n').slice(-1)
  throw new UpdateProblem('packageFailed', last.replace(/^E: /, ''))
}
