import { basename, dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { recordedFolder } from '../../shared/files/recorded-path.ts'
import type { RecordedStream, Segment } from '../../shared/recordings/segment.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import { findRecordings, readSegment, repairRecordings } from './index/recorded-files.ts'
import type { StoredIndex } from './index/stored-index.ts'
import type { KeptSpans } from './kept-spans.ts'
import { type NotedEnd, notedEnds, notedGaps } from './recording-notes.ts'
import type { RecorderIntake } from './recorder-intake.ts'

interface IndexRecoveryDependencies {
  /** Path of the recordings folder. */
  folder: string
  index: StoredIndex
  intake: RecorderIntake
  kept: KeptSpans
  /** Called for each room whose time line was incomplete during a rebuild. */
  changed: (roomId: string) => void
  /** Called after `begin` has succeeded. */
  recovered: () => void
  logger: NodeLogger
}

/** Brings the index up to date with the files: after a start, and when the index is damaged. */
export class IndexRecovery {
  readonly #dependencies: IndexRecoveryDependencies
  readonly #stop = new AbortController()
  #progress: { done: number; total: number } | undefined
  #work: Promise<unknown> = Promise.resolve()

  constructor(dependencies: IndexRecoveryDependencies) {
    this.#dependencies = dependencies
  }

  /** Number of segments read, and of all segments, in the current rebuild; undefined: no rebuild is in progress. */
  get progress(): { done: number; total: number } | undefined {
    return this.#progress
  }

  /** Completes the work of an earlier process, or fills a new index from the files. Never rejects. */
  begin(): Promise<void> {
    const { index, intake, kept, recovered } = this.#dependencies
    return this.#background(async () => {
      if (index.isNew) await this.#rebuild()
      else {
        await intake.start()
        await kept.markAll(index.writer)
      }
      recovered()
    })
  }

  /** Rebuilds a damaged index in the background. Does nothing if a rebuild is in progress. */
  repair(): void {
    mustNotFail(this.#background(() => this.#rebuild()))
  }

  /** Resolves when no recovery or rebuild is in progress. Never rejects. */
  async settled(): Promise<void> {
    await this.#work
  }

  /** Interrupts a rebuild. */
  stop(): void {
    this.#stop.abort()
  }

  async #rebuild(): Promise<void> {
    const { folder, index, intake, kept, changed, logger } = this.#dependencies
    if (this.#progress !== undefined) return
    this.#progress = { done: 0, total: 0 }
    try {
      const rebuilt = await rebuildIndex({
        folder,
        index,
        isOpen: (file) => intake.isOpen(file),
        progress: (done, total) => {
          this.#progress = { done, total }
        },
        signal: this.#stop.signal,
        logger,
      })
      await kept.markAll(index.writer)
      // Time lines read during the rebuild were incomplete.
      for (const roomId of new Set(index.sources().map((source) => source.roomId))) changed(roomId)
      if (rebuilt.segments > 0) logger.info({ ...rebuilt }, 'the index of the recordings was rebuilt')
    } finally {
      this.#progress = undefined
    }
  }

  #background(work: () => Promise<void>): Promise<void> {
    const guarded = work().catch((error: unknown) => {
      if (!this.#stop.signal.aborted)
        this.#dependencies.logger.error({ err: error }, 'the recordings could not be read')
    })
    this.#work = Promise.all([this.#work, guarded])
    return guarded
  }
}

interface IndexRebuildDependencies {
  folder: string
  index: StoredIndex
  /** Whether a file is being written. @param file path below the folder */
  isOpen: (file: string) => boolean
  /** Receives the number of files read so far and the number of files found. */
  progress: (done: number, total: number) => void
  signal: AbortSignal
  logger: NodeLogger
}

interface Rebuilt {
  segments: number
  /** Number of files that were cut off and can now be played up to their end. */
  repaired: number
  /** Number of files that are not recordings. */
  unreadable: number
}

/** Maximum number of paths held in memory. */
const maxPaths = 2_000_000

/**
 * Adds every recording of a folder to the index, the newest first, only from the metadata in the files and the notes
 * beside them. Reads one file at a time, so that the program stays responsive.
 * @throws Error of the disk; reason of the signal
 */
export async function rebuildIndex(dependencies: IndexRebuildDependencies): Promise<Rebuilt> {
  const { folder, index, isOpen, progress, signal, logger } = dependencies
  const rebuilt: Rebuilt = { segments: 0, repaired: 0, unreadable: 0 }
  const repaired = new Set<string>()
  const cut: Segment[] = []
  const ends = new NotedEnds(folder)
  for await (const found of repairRecordings(folder, ({ file }) => isOpen(file))) {
    signal.throwIfAborted()
    if (found.outcome === 'repaired') {
      index.writer.ended(found.segment)
      cut.push(found.segment)
      repaired.add(found.file)
      rebuilt.repaired++
      rebuilt.segments++
    } else if (found.outcome !== 'empty') rebuilt.unreadable++
  }
  const files: { file: string; startedAt: number }[] = []
  for await (const { file, startedAt, isPart } of findRecordings(folder)) {
    signal.throwIfAborted()
    if (!isPart && files.length < maxPaths && !repaired.has(file)) files.push({ file, startedAt })
  }
  files.sort((one, other) => other.startedAt - one.startedAt)
  for (const [done, { file }] of files.entries()) {
    signal.throwIfAborted()
    try {
      const segment = await readSegment(folder, file)
      if (segment === undefined) rebuilt.unreadable++
      else {
        const noted = await ends.of(segment)
        if (noted === 'unknown') {
          const ended: Segment = { ...segment, end: 'cut' }
          index.writer.ended(ended)
          cut.push(ended)
        } else if (noted === undefined) index.writer.restore(segment, false)
        else index.writer.restore({ ...segment, endedAt: noted.endedAt, end: noted.end }, noted.live)
        rebuilt.segments++
      }
    } catch (error) {
      rebuilt.unreadable++
      logger.warn({ err: error, file }, 'a recording cannot be read, and is not in the index')
    }
    if (done % 20 === 0) {
      progress(done, files.length)
      await setImmediate()
    }
  }
  await restoreGaps(folder, index, signal)
  for (const segment of cut) noteCut(index, segment)
  progress(files.length, files.length)
  return rebuilt
}

/**
 * Ends of segments from the notes beside their files. The notes of each day of a stream are read once and cached while
 * the files of that day are read.
 */
class NotedEnds {
  readonly #folder: string
  readonly #read = new Map<string, Map<string, NotedEnd | 'unknown'>>()
  #day = ''

  constructor(folder: string) {
    this.#folder = folder
  }

  /**
   * Returns the noted end of a segment; undefined: the notes do not contain the segment; `unknown`: the notes contain
   * only the start.
   * @throws Error of the disk
   */
  async of({ file }: Pick<Segment, 'file'>): Promise<NotedEnd | 'unknown' | undefined> {
    const path = dirname(file)
    const day = basename(path)
    // Files are read day by day, so only one day is cached.
    if (day !== this.#day) this.#read.clear()
    this.#day = day
    let ends = this.#read.get(path)
    if (ends === undefined) this.#read.set(path, (ends = await this.#endsBeside(file)))
    return ends.get(basename(file))
  }

  /** A recording directly in the recordings folder has no notes. */
  async #endsBeside(file: string): Promise<Map<string, NotedEnd | 'unknown'>> {
    if (!file.includes('/')) return new Map()
    return await notedEnds(this.#folder, recordedFolder(this.#folder, file))
  }
}

/**
 * Adds the gaps from the notes. A gap without an end lasts until the next segment or gap of its stream.
 * @throws Error of the disk; reason of the signal
 */
async function restoreGaps(folder: string, index: StoredIndex, signal: AbortSignal): Promise<void> {
  for await (const { stream, names, gaps } of notedGaps(folder)) {
    signal.throwIfAborted()
    const last = gaps.at(-1)
    if (last?.to === null) last.to = nextMoment(index, stream, last.from) ?? null
    index.writer.restoreGaps(stream, names, gaps)
  }
}

/**
 * Adds a gap after a segment that was cut off by the end of its process. The gap lasts until the next segment or gap.
 */
function noteCut(index: StoredIndex, segment: Segment): void {
  const next = nextMoment(index, segment, segment.endedAt)
  if (next === undefined)
    index.writer.gap({ ...streamOf(segment), from: segment.endedAt, to: null, reason: 'nodeAway' }, segment)
  else if (next > segment.endedAt)
    index.writer.restoreGaps(streamOf(segment), segment, [{ from: segment.endedAt, to: next, reason: 'nodeAway' }])
}

/** Returns the start of the next segment or gap of a stream; undefined if there is none. */
function nextMoment(index: StoredIndex, stream: RecordedStream, after: number): number | undefined {
  const query = { ...streamOf(stream), from: after }
  const starts = [
    ...index.segments({ ...query, limit: 2 }).map(({ startedAt }) => startedAt),
    ...index.open(query).map(({ startedAt }) => startedAt),
    ...index.gaps({ ...query, limit: 2 }).map(({ from }) => from),
  ].filter((at) => at > after)
  return starts.length === 0 ? undefined : Math.min(...starts)
}

function streamOf({ roomId, userId, source, quality }: RecordedStream): RecordedStream {
  return { roomId, userId, source, quality }
}
