import { basename, dirname } from 'node:path'
import { recordedFolder } from '../../../shared/files/recorded-path.ts'
import type { RecordedStream, Segment } from '../../../shared/recordings/segment.ts'
import { notedEnds, type NotedEnd, notedGaps } from '../notes/read-notes.ts'
import type { StoredIndex } from './stored-index.ts'

/**
 * Ends of segments from the notes beside their files. The notes of each day of a stream are read once and cached while
 * the files of that day are read.
 */
export class NotedEnds {
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
export async function restoreGaps(folder: string, index: StoredIndex, signal: AbortSignal): Promise<void> {
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
export function noteCut(index: StoredIndex, segment: Segment): void {
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
