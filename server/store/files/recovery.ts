import { insideOf } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { listBackups } from '../backups/backups.ts'
import { DamagedFileError, peekHeader, readDocument } from './document-reader.ts'
import {
  backupsFolder,
  documentFileName,
  type DocumentName,
  documentNames,
  documentOf,
  layout,
  previousName,
} from './documents.ts'
import { applyChange, emptyState, type RawRecord, type State, toChange } from '../state.ts'
import { type Base, FileFindings, iso } from './file-findings.ts'
import { listFolder, setAside } from './durable-files.ts'
import { segmentName } from '../journal/journal-line.ts'
import { type Migrations, migrateRecord, StoreVersionError } from '../migrations.ts'
import { SegmentChain } from './journal/segment-chain.ts'
import { readJournalSegment } from './journal/segment-reader.ts'
import type { StoreNotice } from '../store.ts'

export interface Recovered {
  state: State
  bases: Record<DocumentName, Base>
  /** First segment that the previous version of each file needs; absent: no such file. */
  previous: Partial<Record<DocumentName, number>>
  chain: SegmentChain
  roomNumber: number
  notices: StoreNotice[]
  /** Whether the folder was empty: a first start. */
  fresh: boolean
  /** Whether the files should be rewritten, because something was recovered or migrated. */
  stale: boolean
  /** The oldest schema version found; undefined: all files have the current version. */
  migratedFrom: number | undefined
}

/** Number of room numbers skipped after a loss of changes: lost numbers must not be assigned again. */
export const roomNumberGap = 10_000

/** Rejects a folder that a newer Roomdesk wrote. Read-only. @throws StoreVersionError */
export async function checkVersions(folder: string, known: Migrations): Promise<void> {
  const newer: { file: string; version: number }[] = []
  for (const name of documentNames) {
    const version = (await peekHeader(insideOf(folder, documentFileName(name))))?.version ?? 0
    if (version > known.current) newer.push({ file: documentFileName(name), version })
  }
  for (const [number, { version }] of (await SegmentChain.open(folder)).headers) {
    if (version > known.current) newer.push({ file: segmentName(number), version })
  }
  if (newer.length > 0) throw new StoreVersionError(newer, known.current)
}

/**
 * Reads a data folder: the best available version of each file, then the journal. Damaged files are set aside under a
 * name with the time.
 * The candidates, in order: the file; its previous version; the backups, newest first; the journal from its beginning;
 * the readable part of the damaged file. The first candidate without a loss is used, otherwise the first readable
 * candidate.
 * @param now milliseconds since the epoch, for names and notices
 */
export async function recoverFolder(folder: string, known: Migrations, now: number): Promise<Recovered> {
  return new Recovery(folder, known, now, await SegmentChain.open(folder)).run()
}

/** Reads a folder without repairing anything. @throws DamagedFileError, or ENOENT */
export async function readFolder(folder: string, known: Migrations): Promise<Recovered> {
  await checkVersions(folder, known)
  return new Recovery(folder, known, 0, await SegmentChain.open(folder)).read()
}

/** A file from which a document may be recovered. */
interface Candidate {
  path: string
  kind: 'file' | 'previous' | 'backup'
  label: string
}

class Recovery {
  readonly #folder: string
  readonly #known: Migrations
  readonly #now: number
  readonly #chain: SegmentChain
  readonly #state = emptyState()
  readonly #bases: Record<DocumentName, Base> = {
    site: { first_segment: 1, written_at: 0 },
    rooms: { first_segment: 1, written_at: 0 },
    sessions: { first_segment: 1, written_at: 0 },
  }
  readonly #findings: FileFindings
  #roomNumber = 0
  #oldest: number

  constructor(folder: string, known: Migrations, now: number, chain: SegmentChain) {
    this.#folder = folder
    this.#known = known
    this.#now = now
    this.#findings = new FileFindings(now)
    this.#chain = chain
    this.#oldest = known.current
  }

  async run(): Promise<Recovered> {
    const names = new Set(await listFolder(this.#folder))
    const backups = (await listBackups(this.#folder)).filter(({ uploaded }) => !uploaded)
    const previous: Partial<Record<DocumentName, number>> = {}
    for (const name of documentNames) {
      const header = (await peekHeader(insideOf(this.#folder, previousName(name))))?.header
      if (header !== undefined) previous[name] = header.first_segment
    }
    const nothingElse = this.#chain.last === 0 && backups.length === 0 && Object.keys(previous).length === 0
    const present = documentNames.filter((name) => names.has(documentFileName(name)))
    // An interrupted first start leaves some of the empty files.
    const fresh = nothingElse && (present.length === 0 || (present.length < 3 && (await this.#allEmpty(present))))
    if (fresh) this.#findings.stale = true
    else {
      for (const name of documentNames) {
        await this.#choose(name, names.has(documentFileName(name)), [
          { path: insideOf(this.#folder, previousName(name)), kind: 'previous', label: 'the file before it' },
          ...backups.map(
            (backup): Candidate => ({
              path: insideOf(this.#folder, backupsFolder, backup.name, documentFileName(name)),
              kind: 'backup',
              label: `the backup of ${new Date(backup.at).toISOString()}`,
            }),
          ),
        ])
      }
      await this.#replay(true)
    }
    return this.#result(previous, fresh)
  }

  async read(): Promise<Recovered> {
    for (const name of documentNames) {
      const header = await this.#load(name, insideOf(this.#folder, documentFileName(name)))
      this.#bases[name] = header
    }
    await this.#replay(false)
    return this.#result({}, false)
  }

  #result(previous: Partial<Record<DocumentName, number>>, fresh: boolean): Recovered {
    return {
      state: this.#state,
      bases: this.#bases,
      previous,
      chain: this.#chain,
      roomNumber: this.#roomNumber + (this.#findings.lossy ? roomNumberGap : 0),
      notices: this.#findings.notices,
      fresh,
      stale: this.#findings.stale || this.#oldest !== this.#known.current,
      migratedFrom: this.#oldest === this.#known.current ? undefined : this.#oldest,
    }
  }

  async #allEmpty(present: readonly DocumentName[]): Promise<boolean> {
    for (const name of present) {
      try {
        const { first_segment } = await this.#load(name, insideOf(this.#folder, documentFileName(name)))
        if (first_segment !== 1 || layout[name].some((collection) => this.#state[collection].size > 0)) return false
      } catch {
        // A damaged file is not empty.
        return false
      }
    }
    return true
  }

  /** Loads a complete file into the state. */
  async #load(name: DocumentName, path: string, salvage = false): Promise<Base> {
    for (const collection of layout[name]) this.#state[collection].clear()
    const header = await readDocument(path, (record, version) => this.#put(name, record, version), salvage)
    if (header.version > this.#known.current) throw new DamagedFileError(`it has version ${header.version}`)
    this.#roomNumber = Math.max(this.#roomNumber, header.room_number)
    this.#oldest = Math.min(this.#oldest, header.version)
    return { first_segment: header.first_segment, written_at: header.written_at }
  }

  #put(name: DocumentName, record: RawRecord, version: number): void {
    for (const migrated of this.#migrate(record, version)) {
      const change = toChange(migrated)
      if (change === undefined || documentOf(change.collection) !== name)
        throw new DamagedFileError('a record is out of place')
      applyChange(this.#state, change)
      if (change.collection === 'rooms') this.#roomNumber = Math.max(this.#roomNumber, change.value?.id ?? 0)
    }
  }

  #migrate(record: RawRecord, version: number): readonly RawRecord[] {
    return version === this.#known.current ? [record] : migrateRecord(record, version, this.#known)
  }

  async #choose(name: DocumentName, exists: boolean, others: readonly Candidate[]): Promise<void> {
    const file = documentFileName(name)
    const path = insideOf(this.#folder, file)
    let problem = 'is missing'
    let aside: string | undefined
    if (exists) {
      try {
        this.#bases[name] = await this.#load(name, path)
        return
      } catch (error) {
        if (!(error instanceof DamagedFileError)) throw error
        problem = `was damaged (${error.message})`
      }
      aside = await setAside(path, this.#now)
    }
    const wasAside = aside === undefined ? '' : ` It was put aside as ${aside}.`
    this.#findings.note('warning', 'damaged', `${file} ${problem}.${wasAside}`, aside ?? file)
    this.#findings.stale = true
    await this.#fallBack(name, aside, others)
  }

  /** Loads the best of the remaining candidates, if any. */
  async #fallBack(name: DocumentName, aside: string | undefined, others: readonly Candidate[]): Promise<void> {
    const file = documentFileName(name)
    let second: Candidate | undefined
    for (const candidate of others) {
      const base = await this.#tryLoad(name, candidate.path)
      if (base === undefined) continue
      if (this.#chain.wholeFrom(base.first_segment)) {
        this.#bases[name] = base
        this.#findings.note(
          'warning',
          'recovered',
          `${file} was recovered from ${candidate.label} and the journal: nothing was lost.`,
          file,
        )
        return
      }
      second ??= candidate
    }
    for (const collection of layout[name]) this.#state[collection].clear()
    this.#bases[name] = { first_segment: 1, written_at: 0 }
    if (this.#chain.numbers.length > 0 && this.#chain.wholeFrom(1)) {
      this.#findings.note(
        'warning',
        'recovered',
        `${file} was recovered from the journal alone: nothing was lost.`,
        file,
      )
      return
    }
    if (name === 'sessions') {
      // An old list would bring back sessions that have ended since.
      this.#findings.lost(file, 'The sessions could not be recovered: clients must authenticate again.', 'recovered')
      return
    }
    const base = second === undefined ? undefined : await this.#tryLoad(name, second.path)
    if (second !== undefined && base !== undefined) {
      this.#bases[name] = base
      const message = `${file} was recovered from ${second.label} and what is left of the journal: changes made after ${iso(base.written_at)} may be lost.`
      this.#findings.lost(file, message, 'recovered')
      return
    }
    await this.#salvage(name, aside)
  }

  async #salvage(name: DocumentName, aside: string | undefined): Promise<void> {
    const file = documentFileName(name)
    const base = aside === undefined ? undefined : await this.#tryLoad(name, insideOf(this.#folder, aside), true)
    if (base !== undefined) {
      this.#bases[name] = base
      this.#findings.lost(
        file,
        `No good copy of ${file} was found: what could be read of the damaged one is used, check it.`,
        'recovered',
      )
      return
    }
    for (const collection of layout[name]) this.#state[collection].clear()
    this.#findings.lost(file, `No good copy of ${file} was found: only what the journal holds is there.`, 'recovered')
  }

  async #tryLoad(name: DocumentName, path: string, salvage = false): Promise<Base | undefined> {
    try {
      return await this.#load(name, path, salvage)
    } catch (error) {
      if (error instanceof DamagedFileError || hasCode(error, 'ENOENT')) return undefined
      throw error
    }
  }

  async #replay(repair: boolean): Promise<void> {
    const first = Math.min(...documentNames.map((name) => this.#bases[name].first_segment))
    const mark = this.#chain.highWater
    this.#roomNumber = Math.max(this.#roomNumber, mark?.room_number ?? 0)
    // Only a data folder is checked for missing segments: most backups consist of files of one instant, without a
    // journal.
    if (repair) this.#findings.missing(this.#chain, this.#bases)
    for (const number of this.#chain.from(first)) {
      const header = this.#chain.headers.get(number)
      const version = header?.version ?? this.#known.current
      this.#oldest = Math.min(this.#oldest, version)
      this.#roomNumber = Math.max(this.#roomNumber, header?.room_number ?? 0)
      const known = {
        number,
        end: this.#chain.ends.get(number),
        confirmed: mark?.segment === number ? mark : undefined,
      }
      const report = await readJournalSegment(this.#folder, known, (changes) => {
        for (const record of changes) this.#apply(record, version, number)
      })
      const file = segmentName(number)
      const aside = report.lost > 0 && repair ? await setAside(insideOf(this.#folder, file), this.#now, true) : file
      this.#findings.segment(file, report, aside, known.confirmed)
      if (!this.#chain.ends.has(number)) this.#chain.ends.set(number, report.end)
    }
  }

  #apply(record: RawRecord, version: number, segment: number): void {
    for (const migrated of this.#migrate(record, version)) {
      const change = toChange(migrated)
      if (change === undefined || segment < this.#bases[documentOf(change.collection)].first_segment) continue
      applyChange(this.#state, change)
      if (change.collection === 'rooms') this.#roomNumber = Math.max(this.#roomNumber, change.value?.id ?? 0)
    }
  }
}
