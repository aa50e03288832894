import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lab } from '../../../server/bin/lab-command.ts'
import { forkMediaProcess } from '../../../server/nodes/embedded/fork-process.ts'
import { mediaProgram } from '../media/media-program.ts'
import { temporaryFolder } from '../sites/store-site.ts'

/** A run of `roomdesk lab` in this process. */
interface LabRun {
  code: number
  stdout: string
  /** Verdict on each step, without real durations. */
  steps: Record<string, unknown>[]
}

/** Runs a scenario without pauses. @param scenario file, or name of a bundled one */
export async function labRun(scenario: string, ...flags: string[]): Promise<LabRun> {
  return await command('run', scenario, '--pace=fast', ...flags)
}

/** Runs a generated day. */
export async function labDay(...flags: string[]): Promise<LabRun> {
  return await command('day', ...flags)
}

async function command(...words: string[]): Promise<LabRun> {
  const lines: string[] = []
  const report = join(await temporaryFolder(), 'verdict.json')
  const pages = await temporaryFolder()
  const run = lab({ pages, spawnMedia: (recordings) => forkMediaProcess(mediaProgram, [pages], recordings) })
  const code = await run({
    arguments: [...words, `--json=${report}`],
    environment: {},
    version: '',
    signal: new AbortController().signal,
    print: (line) => lines.push(line),
    warn: (line) => lines.push(line),
  })
  const { steps } = JSON.parse(await readFile(report, 'utf8')) as { steps: Record<string, unknown>[] }
  return { code, stdout: lines.join('\n'), steps: steps.map(({ took: _took, ...step }) => step) }
}
