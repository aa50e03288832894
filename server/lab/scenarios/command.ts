import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessAborted } from '../../../shared/abort.ts'
import { errorCode } from '../../../shared/error-code.ts'
import type { LogLevel } from '../../observe/log.ts'
import {
  type CommandContext,
  CommandError,
  type ExitCode,
  exitCodes,
  onlyArgument,
  readArguments,
  readPace,
  writeReport,
} from '../command.ts'
import { bundledScenario, bundledScenarios } from './bundled.ts'
import { ScenarioClock } from './clock.ts'
import { dayOf, type DaySize, usualDay, usualDayPace } from './day.ts'
import { shownDuration } from './step-schema.ts'
import { readScenario, type Scenario, ScenarioFileError } from './format.ts'
import { inEnglish, jsonReport, junitReport, stepLines, verdictSentence } from './report.ts'
import { planOf, runScenario, type ScenarioSite, type StepVerdict } from './run.ts'

/** A site that runs for one scenario. */
interface OpenedLabSite extends ScenarioSite {
  /** Line with its addresses. */
  ready: string
  /** Data folder. */
  folder: string
  /** Stops the site and removes its folder. */
  close: () => Promise<void>
}

/** Starts the site of a scenario in a temporary folder. @throws CommandError */
export type OpenLabSite = (
  scenario: Scenario,
  ports: Readonly<Record<PortFlag, number>>,
  logLevel: LogLevel,
) => Promise<OpenedLabSite>

/** Runs the command `roomdesk lab`. */
export async function runLab(context: CommandContext, openSite: OpenLabSite): Promise<ExitCode> {
  const { arguments: given, print } = context
  const [word, ...rest] = given
  if (word === 'run') {
    const options = readRunOptions(rest)
    return await run(await scenarioIn(options.file), options, context, openSite, () => true)
  }
  if (word === 'day') {
    const options = readDayOptions(rest)
    return await run(dayOf(options.size, options.seed ?? 1), options, context, openSite, isListedOfDay)
  }
  if (word !== 'list' || rest.length > 0)
    throw new CommandError('Usage: roomdesk lab run FILE, roomdesk lab day, or roomdesk lab list.')
  for (const { name, title, description } of bundledScenarios()) {
    print(`${name}: ${inEnglish(title)}`)
    print(`  ${inEnglish(description)}`)
  }
  return exitCodes.fine
}

/** Lists only comparisons of a day, and steps that do not hold. */
function isListedOfDay({ step, outcome }: StepVerdict): boolean {
  return step.kind === 'expect' || outcome.outcome !== 'holds'
}

/** Runs a scenario. @param isListed whether a step is printed and reported */
async function run(
  scenario: Scenario,
  options: RunOptions,
  context: CommandContext,
  openSite: OpenLabSite,
  isListed: (verdict: StepVerdict) => boolean,
): Promise<ExitCode> {
  const { signal, print, warn } = context
  const { seed = scenario.seed, pace, ports, json, junit, keepRunning } = options
  const startedAt = new Date().toISOString()
  const site = await openSite(scenario, ports, options.logLevel)
  try {
    print(site.ready)
    if (keepRunning) warn(`The console key is in ${join(site.folder, 'console.key')}.`)
    print(`${inEnglish(scenario.title)}: ${inEnglish(scenario.description)}`)
    const began = performance.now()
    const verdicts = await runScenario(scenario, planOf(scenario, seed), site, new ScenarioClock(pace), signal, {
      onEnd: (verdict) => {
        if (!signal.aborted && isListed(verdict)) for (const line of stepLines(verdict)) print(line)
      },
    })
    const milliseconds = Math.round(performance.now() - began)
    const report = { scenario, seed, verdicts, listed: verdicts.filter(isListed), startedAt, milliseconds }
    print(verdictSentence(report))
    const reads = verdicts.filter(({ step }) => step.kind === 'expect').map(({ took }) => took)
    if (reads.length > 0) print(`Slowest read of the console: ${shownDuration(Math.max(...reads))}.`)
    if (json !== undefined) await writeReport(json, jsonReport(report))
    if (junit !== undefined) await writeReport(junit, junitReport(report))
    if (signal.aborted) {
      warn('Interrupted: not all steps were run.')
      return exitCodes.noVerdict
    }
    // Resolves only when the signal aborts.
    if (keepRunning) await unlessAborted(new Promise<never>(() => {}), signal).catch(() => {})
    return verdicts.every(({ outcome }) => outcome.outcome === 'holds') ? exitCodes.fine : exitCodes.found
  } finally {
    await site.close()
  }
}

/** Reads a scenario from a file, or takes the bundled one of this name. @throws CommandError */
async function scenarioIn(file: string): Promise<Scenario> {
  const bundled = bundledScenario(file)
  if (bundled !== undefined) return bundled
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    const reason = errorCode(error) || 'unknown'
    throw new CommandError(`There is no file and no bundled scenario ${file} (${reason}): see roomdesk lab list.`, {
      cause: error,
    })
  }
  try {
    return readScenario(text)
  } catch (error) {
    if (!(error instanceof ScenarioFileError)) throw error
    throw new CommandError(`${file}: ${error.message}`, { cause: error })
  }
}

const logLevels: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

type PortFlag = 'media-port' | 'device-port' | 'node-port' | 'console-port'

/** Options of a run. */
interface RunOptions {
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
function readRunOptions(given: readonly string[]): RunOptions & { file: string } {
  const { values, positionals } = readArguments({
    args: [...given],
    options: flags,
    strict: true,
    allowPositionals: true,
  })
  return { file: onlyArgument(positionals, 'lab run FILE, or a name of lab list'), ...runOptions(values, '1') }
}

/** Reads the arguments after `day`. @throws CommandError */
function readDayOptions(given: readonly string[]): RunOptions & { size: DaySize } {
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
