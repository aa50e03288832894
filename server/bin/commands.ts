import { CommandError, exitCodes, type RunCommand } from '../lab/command.ts'
import { LaunchError, type ProgramFiles } from './launch-options.ts'
import { productVersion } from './version.ts'

/** A command of the program: `roomdesk NAME …`. */
interface Command {
  /** Arguments, for `--help`. */
  usage: string
  summary: string
  /** Imports the command with the text of its `--help`, so that a controller loads neither. */
  load: (files: ProgramFiles) => Promise<{ run: RunCommand; help: string }>
}

const commands: Readonly<Record<string, Command>> = {
  camera: {
    usage: '[--port N] [--auth none|basic|digest|digest-sha256] [--behaviour B]… (see roomdesk camera --help)',
    summary: 'run a test camera, and print its rtsp:// address',
    load: async () => {
      const { camera: run, help } = await import('./camera-command.ts')
      return { run, help }
    },
  },
  'check-report': {
    usage: 'FILE [--key KEY]',
    summary: 'say whether a signed report is as it was signed',
    load: async () => {
      const { checkReport: run, help } = await import('../lab/watch/check-report.ts')
      return { run, help }
    },
  },
  conformance: {
    usage: '--media URL --device URL --access-key K --secret-key S',
    summary: 'check a server of the API: every operation, code and rule of the contract',
    load: async () => ({
      run: (await import('./conformance-command.ts')).conformance,
      help: (await import('../lab/conformance/command.ts')).help,
    }),
  },
  lab: {
    usage: 'run FILE [--seed N] [--pace N|fast] [--json FILE] [--junit FILE], day, or list (see roomdesk lab --help)',
    summary: 'run a scenario on a site of its own, and judge each of its steps',
    load: async (files) => ({
      run: (await import('./lab-command.ts')).lab(files),
      help: (await import('../lab/scenarios/command.ts')).help,
    }),
  },
  people: {
    usage: '--media URL --access-key K --secret-key S [--people N] [--rooms N]… (see roomdesk people --help)',
    summary: 'let test people with real media join rooms of a site',
    load: async () => {
      const { people: run, help } = await import('./people-command.ts')
      return { run, help }
    },
  },
  replay: {
    usage:
      'FILE --against URL [--device URL] --access-key K --secret-key S [--pace N|fast] [--json FILE] [--junit FILE]',
    summary: 'send recorded API traffic to a server, and compare its answers with the recorded ones',
    load: async () => {
      const { replay: run, help } = await import('../lab/replay/command.ts')
      return { run, help }
    },
  },
}

/** Names of all commands. */
export const commandNames: readonly string[] = Object.keys(commands)

/** Section of `--help` about the commands. */
export const commandUsage = [
  'Commands: roomdesk COMMAND …',
  ...Object.entries(commands).flatMap(([name, { usage, summary }]) => [`  ${name} ${usage}`, `      ${summary}`]),
].join('\n')

/** Process that runs a command. */
interface CommandProcess extends ProgramFiles {
  environment: NodeJS.ProcessEnv
  stdout: NodeJS.WritableStream
  stderr: NodeJS.WritableStream
  /** Calls `stop` when the command should end gracefully. */
  followEnd: (stop: (reason: string) => void) => void
}

/** The first argument names no command. */
export class UnknownCommandError extends LaunchError {
  override readonly name = 'UnknownCommandError'

  constructor(word: string) {
    super(`Roomdesk has no command ${JSON.stringify(word)}: its commands are ${commandNames.join(', ')}.`)
  }
}

/** Whether the arguments start with the name of a command rather than a flag. */
export function namesCommand([first]: readonly string[]): boolean {
  return first !== undefined && !first.startsWith('-')
}

/**
 * Runs the command that the first argument names.
 * @returns the exit code
 * @throws UnknownCommandError
 */
export async function runCommand([name = '', ...given]: readonly string[], process: CommandProcess): Promise<number> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) throw new UnknownCommandError(name)
  const { environment, stdout, stderr, followEnd } = process
  const ended = new AbortController()
  followEnd((reason) => ended.abort(new Error(`The command was ended: ${reason}.`)))
  const warn = (line: string): void => void stderr.write(`${line}\n`)
  try {
    const { run, help } = await command.load(process)
    const print = (line: string): void => void stdout.write(`${line}\n`)
    if (given.includes('--help')) {
      print(help)
      return exitCodes.fine
    }
    return await run({ arguments: given, environment, version: productVersion, signal: ended.signal, print, warn })
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    warn(error.message)
    return exitCodes.noVerdict
  }
}
