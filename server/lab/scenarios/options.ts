import type { LogLevel } from '../../observe/log.ts'
import { CommandError, readArguments, readPace } from '../command.ts'

const logLevels: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

export type PortFlag = 'media-port' | 'device-port' | 'node-port' | 'console-port'

/** Options of `roomdesk lab run`. */
export interface RunOptions {
  /** File, or name of a bundled scenario. */
  file: string
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
       roomdesk lab list

Runs a scenario on a site of its own, in a temporary folder on this machine, and judges each step. FILE is a scenario, or
the name of a bundled one, which roomdesk lab list prints.

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

Exit code: 0 all steps hold, 1 a step does not, 2 no verdict.`

const text = { type: 'string' } as const
const flags = {
  ...{ seed: text, pace: text, json: text, junit: text, 'log-level': text },
  ...{ 'media-port': text, 'device-port': text, 'node-port': text, 'console-port': text },
  'keep-running': { type: 'boolean' },
} as const

/** Reads the arguments after `run`. @throws CommandError */
export function readRunOptions(given: readonly string[]): RunOptions {
  const { values, positionals } = parsed(given)
  const [file, ...more] = positionals
  if (file === undefined) throw new CommandError('The scenario is missing: lab run FILE, or a name of lab list.')
  if (more.length > 0) throw new CommandError(`lab run takes one scenario, not also ${more.join(', ')}.`)
  const { seed, pace = '1', json, junit } = values
  const port = (flag: PortFlag): number => wholeNumber(flag, values[flag] ?? '0', 65_535)
  return {
    file,
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

function parsed(given: readonly string[]) {
  return readArguments({ args: [...given], options: flags, strict: true, allowPositionals: true })
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
