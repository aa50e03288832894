import { readFile } from 'node:fs/promises'
import { CommandError, exitCodes, type RunCommand, writeReport } from '../command.ts'
import { readTraffic, type TrafficCall, TrafficFileError } from '../traffic/format.ts'
import { readReplayOptions } from './options.ts'
import { Replay, type ReplayedCall } from './replay.ts'
import { isAlike, reportJson, reportLines } from './report.ts'

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
  if (junit !== undefined) await writeReport(junit, (await import('./junit-report.ts')).junitReport(report))
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
