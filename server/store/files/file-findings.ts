import type { HighWater } from './journal/high-water.ts'
import { segmentName } from '../journal/journal-line.ts'
import type { SegmentChain } from './journal/segment-chain.ts'
import type { SegmentReport } from './journal/segment-reader.ts'
import type { StoreNotice } from '../store.ts'
import { type DocumentName, documentNames, documentFileName } from './documents.ts'

/**
 * Header of the file from which a document was loaded. `first_segment`: first journal segment whose changes the file
 * lacks.
 */
export interface Base {
  first_segment: number
  written_at: number
}

/** Findings in a data folder, for the operator. */
export class FileFindings {
  readonly notices: StoreNotice[] = []
  /** Whether confirmed changes are or may be lost. */
  lossy = false
  stale = false
  readonly #now: number

  /** @param now milliseconds since the epoch. */
  constructor(now: number) {
    this.#now = now
  }

  note(level: StoreNotice['level'], code: StoreNotice['code'], message: string, file: string): void {
    this.notices.push({ level, at: this.#now, code, message, file })
  }

  lost(file: string, message: string, code: StoreNotice['code'] = 'damaged'): void {
    this.lossy = true
    this.stale = true
    const level = code === 'damaged' ? 'warning' : 'error'
    this.notices.push({ level, at: this.#now, code, message, file, lost: true })
  }

  /** Reports missing segments that a file needs, except for files whose loss was reported already. */
  missing(chain: SegmentChain, bases: Readonly<Record<DocumentName, Base>>): void {
    const reported = new Set(this.notices.filter(({ lost }) => lost === true).map(({ file }) => file))
    const behind = documentNames.filter(
      (name) => !reported.has(documentFileName(name)) && !chain.covers(bases[name].first_segment),
    )
    if (behind.length === 0) return
    const mark = chain.highWater
    if (mark !== undefined && chain.newestMissing) {
      const file = segmentName(mark.segment)
      const changes = `${mark.lines} confirmed change${mark.lines === 1 ? '' : 's'}, made ${between(mark)},`
      this.lost(file, `${file} is missing: ${changes} ${mark.lines === 1 ? 'is' : 'are'} lost.`)
    }
    const first = Math.min(...behind.map((name) => bases[name].first_segment))
    if (chain.coversUpToNewest(first)) return
    const files = behind.map(documentFileName).join(', ')
    const since = iso(Math.min(...behind.map((name) => bases[name].written_at)))
    this.lost(
      files,
      `Parts of the journal that ${files} ${behind.length === 1 ? 'needs' : 'need'} are missing: changes made after ${since} may be lost.`,
    )
  }

  /** Records the findings of reading a segment. @param aside name of the copy of a segment from which lines are lost */
  segment(file: string, report: SegmentReport, aside: string, confirmed: HighWater | undefined): void {
    if (report.lost > 0) {
      const lines = report.lost === 1 ? 'One line' : `${report.lost} lines`
      const made = confirmed === undefined ? '' : `, made ${between(confirmed)},`
      const message = `${lines} of ${file} could not be read: those changes${made} are lost. A copy was put aside as ${aside}.`
      this.lost(aside, message)
    } else if (report.headerDamaged && report.lines > 0) {
      this.stale = true
      this.note('warning', 'damaged', `The first line of ${file} was damaged: every change in it was read.`, file)
    }
    if (report.lost === 0 && report.torn) {
      const message = `The last write to ${file} is incomplete, as a power failure leaves it: it was dropped.`
      this.note('info', 'tornTail', message, file)
    }
  }
}

function between({ since, at }: HighWater): string {
  return `between ${iso(since)} and ${iso(at)}`
}

/** Formats a time for messages. @param milliseconds since the epoch; 0: before anything was written */
export function iso(milliseconds: number): string {
  return milliseconds === 0 ? 'the first start' : new Date(milliseconds).toISOString()
}
