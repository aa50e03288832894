import { readFile } from 'node:fs/promises'
import { readTarget, type Target } from '../client/target.ts'
import {
  CommandError,
  exitCodes,
  onlyArgument,
  readArguments,
  readPace,
  type RunCommand,
  writeReport,
} from '../command.ts'
import { type JunitCase, junitXml } from '../junit.ts'
import { readTraffic, type TrafficCall, TrafficFileError } from '../traffic/format.ts'
import { Replay, type ReplayedCall } from './replay.ts'

/** The command `roomdesk replay`. */
export const replay: RunCommand = async ({ arguments: given, environment, signal, print, warn }) => {
  const { file, target, pace, json, junit } = await readReplayOptions(given, environment)
  const calls = await readCalls(file)
  const startedAt = new Date().toISOString()
  const began = performance.now()
  const replayed: ReplayedCall[] = []
  try {
    await new Replay(target).run(calls, pace, signal, (one) => replayed.push(one))
  } catch (error) {
    if (!signal.aborted) throw error
    warn(`Interrupted after ${replayed.length} of ${calls.length} calls.`)
  }
  replayed.sort((a, b) => a.number - b.number)
  const report = { replayed, startedAt, took: Math.round(performance.now() - began) }
  for (const line of reportLines(report)) print(line)
  if (json !== undefined) await writeReport(json, reportJson(report))
  if (junit !== undefined) await writeReport(junit, junitReport(report))
  if (signal.aborted || replayed.every(({ ret }) => ret === undefined)) return exitCodes.noVerdict
  return replayed.every(isAlike) ? exitCodes.fine : exitCodes.found
}

async function readCalls(file: string): Promise<TrafficCall[]> {
  try {
    const calls = readTraffic(await readFile(file, 'utf8'))
    if (calls.length === 0) throw new CommandError(`${file} contains no call.`)
    return calls
  } catch (error) {
    if (error instanceof CommandError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    const sentence = error instanceof TrafficFileError ? reason : `It cannot be read: ${reason}.`
    throw new CommandError(`${file}: ${sentence}`, { cause: error })
  }
}

/** Options of `roomdesk replay`. */
interface ReplayOptions {
  file: string
  target: Target
  /** Factor of the recorded pace; Infinity: as fast as possible. */
  pace: number
  /** Files for reports; undefined: none. */
  json: string | undefined
  junit: string | undefined
}

/** Text of `roomdesk replay --help`. */
export const help = `Usage: roomdesk replay FILE --against URL --access-key K --secret-key S [flags]

Sends recorded API traffic to a server in the recorded order, and compares its answers with the recorded ones.

  --against URL            media room API, such as http://127.0.0.1:7080
  --device URL             external device API (default: the next port)
  --access-key K           key pair of a credential of the server
  --secret-key S           its secret (or ROOMDESK_SECRET_KEY)
  --pace N                 N times as fast as recorded (default 1), or fast: without pauses
  --ca FILE                authority of the server's certificate, in PEM
  --json FILE              writes the calls with another answer as JSON
  --junit FILE             writes the report as JUnit XML

Exit code: 0 all answers are as recorded, 1 some are not, 2 no verdict.`

const flag = { type: 'string' } as const

/** Reads the arguments. @throws CommandError */
async function readReplayOptions(given: readonly string[], environment: NodeJS.ProcessEnv): Promise<ReplayOptions> {
  const { values, positionals } = parsed(given)
  const file = onlyArgument(positionals, 'replay FILE --against URL')
  const { against, device, json, junit, pace = '1', ...credential } = values
  if (against === undefined) throw new CommandError('--against is missing: the address of the media room API.')
  const flags = { media: against, device: device ?? nextPort(against), ...credential }
  const target = await readTarget(flags, environment, 'against')
  return { file, target, pace: readPace(pace), json, junit }
}

function parsed(given: readonly string[]) {
  const options = {
    against: flag,
    device: flag,
    'access-key': flag,
    'secret-key': flag,
    ca: flag,
    pace: flag,
    json: flag,
    junit: flag,
  }
  return readArguments({ args: [...given], options, strict: true, allowPositionals: true })
}

/** Returns the same address with the next port: the device API's default port follows the media API's. */
function nextPort(media: string): string {
  const url = URL.parse(media)
  if (url === null || url.port === '') return media
  url.port = String(Number(url.port) + 1)
  return url.href
}

/** Result of a replay. */
interface ReplayReport {
  /** All calls, in the order of the recording. */
  replayed: readonly ReplayedCall[]
  /** Start, in ISO 8601. */
  startedAt: string
  /** Duration of the replay, in milliseconds. */
  took: number
}

/** Whether a call was answered as recorded. */
function isAlike({ call, ret, differences }: ReplayedCall): boolean {
  return ret === call.ret && differences.length === 0
}

/** Maximum number of calls, and of fields of one call, that the text lists. */
const maxListed = 50
const maxFields = 5
const maxValue = 60

/** Returns the lines of a report for people: the summary, then each call with another answer. */
function reportLines({ replayed, took }: ReplayReport): string[] {
  const unlike = replayed.filter((one) => !isAlike(one))
  const unanswered = unlike.filter(({ ret }) => ret === undefined).length
  const alike = replayed.length - unlike.length
  const summary = [
    `${replayed.length} calls in ${(took / 1_000).toFixed(1)} s: ${alike} answered as recorded`,
    ...(unlike.length > unanswered ? [`${unlike.length - unanswered} answered differently`] : []),
    ...(unanswered > 0 ? [`${unanswered} not answered`] : []),
  ]
  const listed = unlike.slice(0, maxListed).flatMap(callLines)
  const more = unlike.length > maxListed ? [`… and ${unlike.length - maxListed} more: see --json FILE`] : []
  return [`${summary.join(', ')}.`, ...listed, ...more]
}

function callLines(replayed: ReplayedCall): string[] {
  const { call, ret, differences } = replayed
  const head = `  ${callTitle(replayed)}`
  if (ret === undefined) return [`${head}: ${failureText(replayed)}`]
  if (ret !== call.ret) return [`${head}: ret ${call.ret} was recorded, ${ret} came`]
  const fields = differenceLines(replayed)
    .slice(0, maxFields)
    .map((line) => `    ${line}`)
  const more = differences.length > maxFields ? [`    … and ${differences.length - maxFields} more fields`] : []
  return [`${head}: other fields`, ...fields, ...more]
}

/** Returns number, operation and recorded time of a call. */
function callTitle({ number, call }: ReplayedCall): string {
  return `#${number} ${call.operation} at ${(call.at / 1_000).toFixed(1)} s`
}

/** Returns why a call has no answer. */
function failureText({ failure }: ReplayedCall): string {
  return `the server ${failure ?? 'sent no answer'}`
}

/** Returns a line for each field that is not as recorded. */
function differenceLines({ differences }: ReplayedCall): string[] {
  return differences.map(({ field, recorded, found }) => {
    return `${field}: ${shown(recorded)} was recorded, ${shown(found)} came`
  })
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > maxValue ? `${text.slice(0, maxValue)}…` : text
}

/** Returns the report as a JSON text. */
function reportJson({ replayed, took }: ReplayReport): string {
  const unlike = replayed.filter((one) => !isAlike(one))
  const differing = unlike.map(({ number, call, ret, differences, failure, took: answeredIn }) => ({
    number,
    operation: call.operation,
    at: call.at,
    recorded_ret: call.ret,
    ret: ret ?? null,
    ...(failure !== undefined && { failure }),
    differences,
    took: answeredIn,
  }))
  const calls = replayed.length
  return `${JSON.stringify({ calls, alike: calls - unlike.length, took, differing }, undefined, 2)}\n`
}

/** Returns the report as JUnit XML: a test suite per operation, a test case per call. */
function junitReport({ replayed, startedAt, took }: ReplayReport): string {
  const byOperation = Map.groupBy(replayed, ({ call }) => call.operation)
  const suites = Array.from(byOperation, ([name, calls]) => ({ name, cases: calls.map(caseOf) }))
  return junitXml({ name: 'replay', startedAt, milliseconds: took, suites })
}

function caseOf(replayed: ReplayedCall): JunitCase {
  return { name: callTitle(replayed), result: resultOf(replayed) }
}

function resultOf(replayed: ReplayedCall): JunitCase['result'] {
  const { call, ret } = replayed
  if (isAlike(replayed)) return 'passed'
  if (ret === undefined) return { failed: failureText(replayed) }
  if (ret !== call.ret) return { failed: `ret ${call.ret} was recorded, ${ret} came` }
  return { failed: 'other fields', details: differenceLines(replayed).join('\n') }
}
