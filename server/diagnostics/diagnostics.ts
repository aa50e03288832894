import { readFile, mkdir, mkdtemp, rm, writeFile, open, readdir, stat } from 'node:fs/promises'
import { belowOf, insideOf, isPathPart } from '../../shared/files/own-path.ts'
import { Scrubber } from './scrubber.ts'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'

interface DiagnosticsSources {
  /** Returns facts by the name of their file, without the fields that are known to be secret. */
  facts: () => Promise<Readonly<Record<string, unknown>>>
  /** Returns secrets that must not be in any text. */
  secrets: () => string[]
  names: () => string[]
  dataFolder: string
  /** Returns the last lines of this process's log. */
  recentLog: (() => string) | undefined
  /** Log files of the desktop application, the current one first. */
  logFiles: readonly string[]
  /** Folder of crash reports; undefined: this program writes none. */
  crashFolder: string | undefined
}

/** Optional contents of an archive, chosen by the operator. */
interface DiagnosticsChoice {
  names: boolean
  crash_reports: boolean
}

/** Maximum sizes in bytes: of each log, and of all crash reports. The whole archive stays below 24 MB. */
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

/**
 * Creates archives for troubleshooting, without secrets. The last archive is kept for a few minutes, so that it can be
 * read in parts.
 */
export class Diagnostics {
  readonly #sources: DiagnosticsSources
  #archive: { name: string; bytes: Buffer } | undefined
  #timer: NodeJS.Timeout | undefined
  #making: Promise<unknown> = Promise.resolve()

  constructor(sources: DiagnosticsSources) {
    this.#sources = sources
  }

  /** Lists crash reports that an archive may contain. */
  async crashReports(): Promise<FoundFile[]> {
    return await crashReportsIn(this.#sources.crashFolder)
  }

  /** Creates an archive. Calls run one after another, and the latest archive can be read. */
  async make(choice: DiagnosticsChoice, now = new Date()): Promise<{ name: string; bytes: number }> {
    const made = this.#making.then(async () => await this.#make(choice, now))
    // The caller receives the error through `made`.
    this.#making = made.catch(() => undefined)
    return await made
  }

  /** Reads a part of the last archive; undefined: this archive is no longer kept. */
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
    const text = readme
      .replace('{names}', names ? 'kept' : 'removed, [name]')
      .replace(
        '{crashes}',
        crash_reports
          ? `${dumps.length}; they hold memory of the program, which was not searched for secrets`
          : 'not included',
      )
    return [{ name: 'README.txt', content: text }, ...files, ...dumps]
  }

  /** Returns the newest crash reports that fit into the archive. */
  async #dumps(reports: readonly FoundFile[]): Promise<DiagnosticsFile[]> {
    const { crashFolder } = this.#sources
    const dumps: DiagnosticsFile[] = []
    let left = maxCrashBytes
    for (const { path, bytes } of reports) {
      if (crashFolder === undefined || bytes > left) continue
      // The file was deleted meanwhile.
      const content = await readFile(belowOf(crashFolder, path)).catch(() => undefined)
      if (content === undefined || content.length > left) continue
      left -= content.length
      dumps.push({ name: `crash-reports/${dumps.length + 1}.dmp`, content })
    }
    return dumps
  }
}

/** Packs files into a tar.gz with one folder of this name. */
async function packArchive(name: string, files: readonly DiagnosticsFile[]): Promise<Buffer> {
  const work = await mkdtemp(join(tmpdir(), 'roomdesk-diagnostics-'))
  try {
    for (const { name: file, content } of files) {
      const path = belowOf(insideOf(work, name), file)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await writeFile(path, content, { mode: 0o600 })
    }
    const archive = join(work, 'archive.tar.gz')
    const { create } = await import('tar')
    await create({ file: archive, cwd: work, gzip: true, portable: true }, [name])
    return await readFile(archive)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

interface DiagnosticsFile {
  name: string
  content: string | Buffer
}

/** File on the disk with its size in bytes and its modification time. */
interface FoundFile {
  path: string
  bytes: number
  changed_at: string
}

const maxListed = 500
const deepest = 3

/** Lists the files of a folder with their sizes, the largest first. A missing folder counts as empty. */
async function sizesIn(folder: string): Promise<FoundFile[]> {
  const found: FoundFile[] = []
  await collect(folder, deepest)
  return found.sort((one, other) => other.bytes - one.bytes).slice(0, maxListed)

  async function collect(path: string, depth: number): Promise<void> {
    // Unreadable folders are omitted.
    for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
      if (!isPathPart(entry.name)) continue
      const inner = insideOf(path, entry.name)
      if (entry.isDirectory() && depth > 0) await collect(inner, depth - 1)
      if (!entry.isFile() || found.length >= maxListed * 20) continue
      // The file was deleted meanwhile.
      const facts = await stat(inner).catch(() => undefined)
      if (facts === undefined) continue
      found.push({ path: relative(folder, inner), bytes: facts.size, changed_at: facts.mtime.toISOString() })
    }
  }
}

/** Reads the end of a text file, from the beginning of a line; empty if the file is missing. */
async function tailOf(path: string, maxBytes: number): Promise<string> {
  // A missing file counts as empty.
  const file = await open(path).catch(() => undefined)
  if (file === undefined) return ''
  try {
    const { size } = await file.stat()
    const from = Math.max(0, size - maxBytes)
    const buffer = Buffer.alloc(size - from)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, from)
    const text = buffer.toString('utf8', 0, bytesRead)
    return from === 0 ? text : text.slice(text.indexOf('\n') + 1)
  } finally {
    await file.close()
  }
}

/** Lists the crash reports of a folder, the newest first: Crashpad stores them as `.dmp`. */
async function crashReportsIn(folder: string | undefined): Promise<FoundFile[]> {
  if (folder === undefined) return []
  const reports = (await sizesIn(folder)).filter(({ path }) => path.endsWith('.dmp'))
  return reports.sort((one, other) => other.changed_at.localeCompare(one.changed_at))
}
