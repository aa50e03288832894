import { existsSync } from 'node:fs'
import { resolve, win32 } from 'node:path'
import { errorCode } from '../../shared/error-code.ts'
import { type Flag, LaunchError, readLaunchOptions } from '../../server/bin/launch-options.ts'
import { ownFlags } from '../launch.ts'
import { carryOut, CommandFailedError, runCommand } from './carry-out.ts'
import { macService } from './mac-service.ts'
import type { Command, ServicePlan, ServiceRequest } from './service-plan.ts'
import { windowsService } from './windows-service.ts'
import { app } from 'electron'
import { headlessFlags, modeFlags } from '../start-mode.ts'
import { exitOnFailure } from '../process-ends.ts'

/** Machine on which a service is installed or removed. */
export interface ServiceMachine {
  platform: NodeJS.Platform
  env: NodeJS.ProcessEnv
  /** Id of the user; undefined on Windows. */
  uid: number | undefined
  program: string
  isPackaged: boolean
  /** Folder of the resources of the packaged app. */
  resources: string
  run: (command: Command) => Promise<void>
}

/** Returns the machine of the running app. */
function thisMachine(program: string, isPackaged: boolean): ServiceMachine {
  const { platform, env, resourcesPath } = process
  return { platform, env, uid: process.getuid?.(), program, isPackaged, resources: resourcesPath, run: runCommand }
}

/** The service cannot be installed or removed here. The message contains the reason and the remedy. */
class ServiceRefusedError extends Error {
  override readonly name = 'ServiceRefusedError'
}

const dataDirFlag: Flag = 'data-dir'
const pathFlags: readonly Flag[] = [dataDirFlag, 'recordings-dir', 'site', 'store-password-file', 'seal-key']
const paths: ReadonlySet<string> = new Set(pathFlags)

/**
 * Installs the service and starts it. Replaces an installed service and its flags.
 * @param flags command line flags of the headless controller
 * @returns a message for the operator
 * @throws ServiceRefusedError; LaunchError; CommandFailedError; errors of the file system
 */
export async function installService(flags: readonly string[], machine: ServiceMachine): Promise<string> {
  const plan = await planFor(flags, machine)
  if (existsSync(plan.mark)) await carryOut(plan.remove, machine.run)
  try {
    await carryOut(plan.install, machine.run)
  } catch (error) {
    // A partial installation would start at boot.
    if (existsSync(plan.mark)) await carryOut(plan.remove, machine.run).catch(() => undefined)
    throw error
  }
  return `The service Roomdesk is installed and runs. Its site is in ${plan.dataFolder}, its log is ${plan.log}.`
}

/** Stops the service gracefully and removes it; its site stays. @throws the errors of `installService` */
export async function removeService(machine: ServiceMachine): Promise<string> {
  const plan = await planFor([], machine)
  if (!existsSync(plan.mark)) return 'No service of Roomdesk is installed.'
  await carryOut(plan.remove, machine.run)
  return `The service Roomdesk was removed. Its site stays in ${plan.dataFolder}, or in the folder that it was installed with.`
}

async function planFor(flags: readonly string[], machine: ServiceMachine): Promise<ServicePlan> {
  const { platform, env, uid, program, isPackaged, resources, run } = machine
  if (platform !== 'win32' && platform !== 'darwin')
    throw new ServiceRefusedError(
      'On Linux the package roomdesk-server brings the service: install it, or the archive with its systemd unit (docs/operate/install.md).',
    )
  if (!isPackaged) throw new ServiceRefusedError('Only the installed app can be a service: npm run package makes it.')
  const request = { program, ...readFlags(flags) }
  if (platform === 'win32') {
    await mustBeAdministrator(env, run)
    mustBeForAllUsers(program, env)
    const { ProgramData: programData = 'C:\\ProgramData', SystemRoot: systemRoot = 'C:\\Windows' } = env
    return windowsService(request, { programData, systemRoot, wrapper: win32.join(resources, 'service') })
  }
  if (uid !== 0) throw new ServiceRefusedError('A service needs the rights of an administrator: run this with sudo.')
  const { SUDO_USER: user } = env
  if (user === undefined || user === '' || user === 'root')
    throw new ServiceRefusedError(
      'The service runs as the user who installs it, never as root: log in as that user and run this with sudo.',
    )
  return macService(request, user)
}

/**
 * Separates the data folder from the other flags, and makes paths absolute, because a service runs in a different
 * working directory.
 * @throws LaunchError; ServiceRefusedError if a flag contains the password of the database
 */
function readFlags(flags: readonly string[]): Pick<ServiceRequest, 'flags' | 'dataFolder'> {
  if (readLaunchOptions(flags, {}).storePasswordShown)
    throw new ServiceRefusedError(
      'Everybody on this machine can read how a service is started: give the password of the database by --store-password-file.',
    )
  const given = ownFlags(flags).map((flag): [string, string | undefined] => {
    const [name = '', value] = flag.slice(2).split(/=(.*)/s)
    return [name, value !== undefined && paths.has(name) ? resolve(value) : value]
  })
  return {
    dataFolder: given.findLast(([name]) => name === dataDirFlag)?.[1],
    flags: given
      .filter(([name]) => name !== dataDirFlag)
      .map(([name, value]) => (value === undefined ? `--${name}` : `--${name}=${value}`)),
  }
}

/**
 * Checks for administrator rights: `fltmc.exe`, which lists file system drivers, succeeds only for administrators.
 * @throws ServiceRefusedError
 */
async function mustBeAdministrator(env: NodeJS.ProcessEnv, run: ServiceMachine['run']): Promise<void> {
  await run([win32.join(env.SystemRoot ?? 'C:\\Windows', 'System32', 'fltmc.exe')]).catch((cause: unknown) => {
    throw new ServiceRefusedError(
      'A service needs the rights of an administrator: open the terminal with "Run as administrator" and try again.',
      { cause },
    )
  })
}

/**
 * Rejects an installation for one user: the account of a service cannot read a user's folders. @throws
 * ServiceRefusedError
 */
function mustBeForAllUsers(program: string, { USERPROFILE: profile }: NodeJS.ProcessEnv): void {
  const inside = profile !== undefined && program.toLowerCase().startsWith(`${profile.toLowerCase()}\\`)
  if (inside)
    throw new ServiceRefusedError(
      'Roomdesk is installed for one user only, whose folders a service cannot read: install it again for all users.',
    )
}

/** Whether the operator can resolve the cause of an error. */
function isForOperator(error: unknown): error is Error {
  return (
    error instanceof ServiceRefusedError ||
    error instanceof CommandFailedError ||
    (error instanceof Error && errorCode(error) !== '')
  )
}

/**
 * Installs or removes the service of this machine, prints the result in one sentence, and exits: `roomdesk
 * --install-service`, `--remove-service`.
 */
export function changeService(): void {
  exitOnFailure(change().then((code) => app.exit(code)))
}

async function change(): Promise<number> {
  const { argv } = process
  const machine = thisMachine(app.getPath('exe'), app.isPackaged)
  try {
    const said = argv.includes(modeFlags.removeService)
      ? await removeService(machine)
      : await installService(headlessFlags(argv.slice(app.isPackaged ? 1 : 2)), machine)
    process.stdout.write(`${said}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof LaunchError || isForOperator(error))) throw error
    process.stderr.write(`${error.message}\n`)
    return 1
  }
}
