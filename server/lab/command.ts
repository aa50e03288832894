import { writeFile } from 'node:fs/promises'
import { parseArgs, type ParseArgsConfig } from 'node:util'

/** Input of a command, `roomdesk COMMAND …`. */
export interface CommandContext {
  /** Arguments after the name of the command. */
  arguments: readonly string[]
  environment: NodeJS.ProcessEnv
  /** Version of this program. */
  version: string
  /** Aborts on SIGTERM or SIGINT: the command cleans up and resolves. A second signal ends the process. */
  signal: AbortSignal
  /** Writes a line to stdout. */
  print: (line: string) => void
  /** Writes a line to stderr, such as progress. */
  warn: (line: string) => void
}

/** Exit codes of commands. `noVerdict`: wrong usage, no answer, or interrupted. */
export const exitCodes = { fine: 0, found: 1, noVerdict: 2 } as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Runs a command until it is done or its signal aborts. Resolves to the exit code. @throws CommandError */
export type RunCommand = (context: CommandContext) => Promise<ExitCode>

/** Ends a command with `noVerdict`. The message is one sentence that says what to correct. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** Writes a report. @throws CommandError */
export async function writeReport(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError(`The report cannot be written: ${reason}.`, { cause: error })
  }
}

/** Kinds of a command's flags besides those that take one value. */
interface OtherFlags<Many extends string, Switch extends string> {
  /** Flags that may be repeated. */
  repeated?: readonly Many[]
  /** Flags without a value. */
  switches?: readonly Switch[]
}

type CommandFlags<Name extends string, Many extends string, Switch extends string> = Partial<
  Record<Name, string> & Record<Many, string[]> & Record<Switch, boolean>
>

/** Reads flags that take a value, such as `--media URL`, and others. @throws CommandError for every other argument */
export function readCommandFlags<
  const Name extends string,
  const Many extends string = never,
  const Switch extends string = never,
>(
  given: readonly string[],
  names: readonly Name[],
  { repeated = [], switches = [] }: OtherFlags<Many, Switch> = {},
): CommandFlags<Name, Many, Switch> {
  const options: NonNullable<ParseArgsConfig['options']> = {}
  for (const name of names) options[name] = { type: 'string' }
  for (const name of repeated) options[name] = { type: 'string', multiple: true }
  for (const name of switches) options[name] = { type: 'boolean' }
  // The options determine which values there are, which the compiler cannot follow.
  const values: unknown = readArguments({ args: [...given], options, strict: true, allowPositionals: false }).values
  return values as CommandFlags<Name, Many, Switch>
}

/**
 * Reads arguments, as `parseArgs` of Node does; but a value may begin with a dash, as keys and passwords do.
 * @throws CommandError
 */
export function readArguments<const Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  const joined: Config = { ...config, args: joinedValues(config) }
  try {
    return parseArgs(joined)
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : 'The arguments are wrong.', { cause: error })
  }
}

/** Returns the arguments with `--flag -value` as `--flag=-value`, unless the value is a flag of the command. */
function joinedValues({ args = [], options = {} }: ParseArgsConfig): string[] {
  const typeOf = (argument = '') => (argument.startsWith('--') ? options[argument.slice(2)]?.type : undefined)
  const joined: string[] = []
  for (let index = 0; index < args.length; index++) {
    const [flag = '', value] = args.slice(index, index + 2)
    const isValue = value?.startsWith('-') && typeOf(flag) === 'string' && typeOf(value.split('=')[0]) === undefined
    joined.push(isValue ? `${flag}=${value}` : flag)
    if (isValue) index += 1
  }
  return joined
}

/** Reads the value of `--pace`: a factor of real time; Infinity for `fast`. @throws CommandError */
export function readPace(text: string): number {
  if (text === 'fast') return Infinity
  const pace = Number(text)
  if (Number.isFinite(pace) && pace > 0) return pace
  throw new CommandError(`--pace must be a number above 0, such as 10 for ten times as fast, or fast; not ${text}.`)
}

/** Returns the only argument that is no flag. @param usage the command with its argument: `replay FILE` @throws CommandError */
export function onlyArgument([only, ...others]: readonly string[], usage: string): string {
  if (only === undefined || others.length > 0)
    throw new CommandError(
      `${others.length === 0 ? 'The file is missing' : `Only one file, not also ${others.join(', ')}`}: roomdesk ${usage}.`,
    )
  return only
}
