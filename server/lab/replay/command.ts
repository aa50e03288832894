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
import { readTraffic, type TrafficCall, TrafficFileError } from '../traffic/format.ts'
import { Replay, type ReplayedCall } from './replay.ts'
import { isAlike, junitReport, reportJson, reportLines } from './report.ts'

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
