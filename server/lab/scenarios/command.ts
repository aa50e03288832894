import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessAborted } from '../../../shared/abort.ts'
import { errorCode } from '../../../shared/error-code.ts'
import { type CommandContext, CommandError, type ExitCode, exitCodes, writeReport } from '../command.ts'
import type { LogLevel } from '../../observe/log.ts'
import { bundledScenario, bundledScenarios } from './bundled.ts'
import { ScenarioClock } from './clock.ts'
import { readScenario, type Scenario, ScenarioFileError } from './format.ts'
import { dayOf } from './day.ts'
import { shownDuration } from './duration.ts'
import { type PortFlag, readDayOptions, readRunOptions, type RunOptions } from './options.ts'
import { planOf } from './plan.ts'
import { inEnglish, jsonReport, junitReport, stepLines, verdictSentence } from './report.ts'
import { runScenario, type ScenarioSite, type StepVerdict } from './run.ts'

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
