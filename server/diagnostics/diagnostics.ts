import { readFile } from 'node:fs/promises'
import { belowOf } from '../../shared/files/own-path.ts'
import { packArchive } from './diagnostics-archive.ts'
import { crashReportsIn, type DiagnosticsFile, type FoundFile, sizesIn, tailOf } from './diagnostics-files.ts'
import { Scrubber } from './scrubber.ts'

/** Sources of the diagnostics. */
export interface DiagnosticsSources {
  /** Facts by the name of their file, without secrets as far as their makers know. */
  facts: () => Promise<Readonly<Record<string, unknown>>>
  /** Secrets that no text may hold. */
  secrets: () => string[]
  /** Names of people and meetings. */
  names: () => string[]
  dataFolder: string
  /** Last lines of the log of this process. */
  recentLog: (() => string) | undefined
  /** Files of the log of the desktop app, the current one first. */
  logFiles: readonly string[]
  /** Folder of crash reports; undefined: this program makes none. */
  crashFolder: string | undefined
}

/** Optional contents of an archive, chosen by the operator. */
export interface DiagnosticsChoice {
  names: boolean
  crash_reports: boolean
}

/** Limits in bytes: of each log, of all crash reports. The whole archive stays below 24 MB. */
const maxLogBytes = 2 * 1024 * 1024
const maxCrashBytes = 16 * 1024 * 1024
/** Time for which an archive can be read, in milliseconds. */
const keptMs = 5 * 60_000

const readme = `Diagnostics of Roomdesk.

Keys, passwords, tokens and logins of cameras were removed: [removed].
Names of people, accounts and meetings: {names}.
Crash reports: {crashes}.

about.json          versions, machine, listeners
readiness.json      checks of the machine
settings.json       settings
state.json          counts, storage, problems
files.json          sizes of files in the data folder
crash-reports.json  list of crash reports
log*.ndjson         end of the log, one JSON object a line
`

/** Makes archives that help to find a fault, without secrets. One is kept for a few minutes, so that it can be read part by part. */
export class Diagnostics {
  readonly #sources: DiagnosticsSources
  #archive: { name: string; bytes: Buffer } | undefined
  #timer: NodeJS.Timeout | undefined
  #making: Promise<unknown> = Promise.resolve()

  constructor(sources: DiagnosticsSources) {
    this.#sources = sources
  }

  /** Crash reports that could go into an archive. */
  async crashReports(): Promise<FoundFile[]> {
    return await crashReportsIn(this.#sources.crashFolder)
  }

  /** Makes an archive; requests follow each other, and the last one can be read. */
  async make(choice: DiagnosticsChoice, now = new Date()): Promise<{ name: string; bytes: number }> {
    const made = this.#making.then(async () => await this.#make(choice, now))
    // The caller gets the error.
    this.#making = made.catch(() => undefined)
    return await made
  }

  /** Reads a part of the last archive; undefined: it is gone. */
  read(name: string, offset: number, length: number): { part: Buffer; total: number } | undefined {
    if (this.#archive?.name !== name) return undefined
    const { bytes } = this.#archive
    return { part: bytes.subarray(offset, offset + length), total: bytes.length }
  }

  async #make(choice: DiagnosticsChoice, now: Date): Promise<{ name: string; bytes: number }> {
    const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
    const name = `roomdesk-diagnostics-${stamp}`
    const bytes = await packArchive(name, await this.#files(choice))
    this.#archive = { name, bytes }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => (this.#archive = undefined), keptMs)
    this.#timer.unref()
    return { name, bytes: bytes.length }
  }

  async #files({ names, crash_reports }: DiagnosticsChoice): Promise<DiagnosticsFile[]> {
    const { facts, secrets, names: known, dataFolder, recentLog, logFiles } = this.#sources
    const scrubber = new Scrubber(secrets(), names ? undefined : known())
    const reports = await this.crashReports()
    const documents = { ...(await facts()), files: await sizesIn(dataFolder), 'crash-reports': reports }
    const texts = Object.entries(documents).map(([name, value]) => [
      `${name}.json`,
      `${JSON.stringify(value, undefined, 2)}\n`,
    ])
    if (recentLog !== undefined) texts.push(['log.ndjson', recentLog().slice(-maxLogBytes)])
    for (const [index, path] of logFiles.entries())
      texts.push([`log-file${index === 0 ? '' : `-${index}`}.ndjson`, await tailOf(path, maxLogBytes)])
    const files: DiagnosticsFile[] = []
    for (const [name = '', text = ''] of texts)
      if (text !== '') files.push({ name, content: await scrubber.scrub(text) })
    const dumps = crash_reports ? await this.#dumps(reports) : []
    const told = readme
      .replace('{names}', names ? 'kept' : 'removed, [name]')
      .replace(
        '{crashes}',
        crash_reports
          ? `${dumps.length}; they hold memory of the program, which was not searched for secrets`
          : 'not included',
      )
    return [{ name: 'README.txt', content: told }, ...files, ...dumps]
  }

  /** The newest crash reports that fit. */
  async #dumps(reports: readonly FoundFile[]): Promise<DiagnosticsFile[]> {
    const { crashFolder } = this.#sources
    const dumps: DiagnosticsFile[] = []
    let left = maxCrashBytes
    for (const { path, bytes } of reports) {
      if (crashFolder === undefined || bytes > left) continue
      // It was deleted meanwhile.
      const content = await readFile(belowOf(crashFolder, path)).catch(() => undefined)
      if (content === undefined || content.length > left) continue
      left -= content.length
      dumps.push({ name: `crash-reports/${dumps.length + 1}.dmp`, content })
    }
    return dumps
  }
}
