import type { LogLevel } from '../../observe/log.ts'
import { CommandError, onlyArgument, readArguments, readPace } from '../command.ts'
import { type DaySize, usualDay, usualDayPace } from './day.ts'

const logLevels: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

export type PortFlag = 'media-port' | 'device-port' | 'node-port' | 'console-port'

/** Options of a run. */
export interface RunOptions {
  /** Seed; undefined: that of the scenario. */
  seed: number | undefined
  /** Factor of the pace; Infinity: without pauses. */
  pace: number
  ports: Readonly<Record<PortFlag, number>>
  /** Whether the site keeps running until a signal. */
  keepRunning: boolean
  /** Level of the site's log on stderr. */
  logLevel: LogLevel
  json: string | undefined
  junit: string | undefined
}

/** Text of `roomdesk lab --help`. */
export const help = `Usage: roomdesk lab run FILE [flags]
       roomdesk lab day [flags]
       roomdesk lab list

Runs a scenario on a site of its own, in a temporary folder on this machine, and judges each step. FILE is a scenario, or
the name of a bundled one, which roomdesk lab list prints. lab day runs a generated one, a day of a busy site in 15
minutes, and lists what does not hold.

  --seed N                 draws other times and values (default: the seed of the scenario)
  --pace N                 N times as fast as written (default 1); fast: without pauses between steps
  --media-port N           port of the media room API, for a client of your own (default: a free one)
  --device-port N          port of the external device API
  --node-port N            port of the media node
  --console-port N         port of the console
  --keep-running           leaves the site running after the last step, until Ctrl+C
  --log-level LEVEL        log of the site on stderr (default: silent)
  --json FILE              writes the verdict as JSON
  --junit FILE             writes the verdict as JUnit XML

  Of lab day:
  --rooms N, --cameras N, --people N
                           what comes and goes in the day (default: 10000, 2000, 20000)
  --pace N                 default 96: the day takes 15 minutes

Exit code: 0 all steps hold, 1 a step does not, 2 no verdict.`

const text = { type: 'string' } as const
const flags = {
  ...{ seed: text, pace: text, json: text, junit: text, 'log-level': text },
  ...{ 'media-port': text, 'device-port': text, 'node-port': text, 'console-port': text },
  'keep-running': { type: 'boolean' },
} as const
const sizeFlags = { rooms: text, cameras: text, people: text } as const
const maxSize = 100_000

/** Reads the arguments after `run`: a file, or the name of a bundled scenario, and flags. @throws CommandError */
export function readRunOptions(given: readonly string[]): RunOptions & { file: string } {
  const { values, positionals } = readArguments({
    args: [...given],
    options: flags,
    strict: true,
    allowPositionals: true,
  })
  return { file: onlyArgument(positionals, 'lab run FILE, or a name of lab list'), ...runOptions(values, '1') }
}

/** Reads the arguments after `day`. @throws CommandError */
export function readDayOptions(given: readonly string[]): RunOptions & { size: DaySize } {
  const { values } = readArguments({ args: [...given], options: { ...flags, ...sizeFlags }, strict: true })
  const number = (flag: keyof DaySize): number => wholeNumber(flag, values[flag] ?? String(usualDay[flag]), maxSize)
  const size = { rooms: number('rooms'), cameras: number('cameras'), people: number('people') }
  if (size.rooms === 0) throw new CommandError('--rooms must be at least 1.')
  return { size, ...runOptions(values, String(usualDayPace)) }
}

type RunFlags = Partial<Record<Exclude<keyof typeof flags, 'keep-running'>, string>> & { 'keep-running'?: boolean }

function runOptions(values: RunFlags, usualPace: string): RunOptions {
  const { seed, pace = usualPace, json, junit } = values
  const port = (flag: PortFlag): number => wholeNumber(flag, values[flag] ?? '0', 65_535)
  return {
    seed: seed === undefined ? undefined : wholeNumber('seed', seed, 0xffff_ffff),
    pace: readPace(pace),
    ports: {
      'media-port': port('media-port'),
      'device-port': port('device-port'),
      'node-port': port('node-port'),
      'console-port': port('console-port'),
    },
    logLevel: logLevelOf(values['log-level'] ?? 'silent'),
    keepRunning: values['keep-running'] === true,
    json,
    junit,
  }
}

function wholeNumber(flag: string, given: string, max: number): number {
  const number = /^\d{1,10}$/.test(given) ? Number(given) : NaN
  if (number <= max) return number
  throw new CommandError(`--${flag} must be a whole number from 0 to ${max}, not ${JSON.stringify(given)}.`)
}

function logLevelOf(given: string): LogLevel {
  const level = logLevels.find((each) => each === given)
  if (level !== undefined) return level
  throw new CommandError(`--log-level must be one of ${logLevels.join(', ')}.`)
}
