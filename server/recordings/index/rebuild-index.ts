import { setImmediate } from 'node:timers/promises'
import type { Segment } from '../../../shared/recordings/segment.ts'
import type { NodeLogger } from '../../nodes/port/node-failure.ts'
import { findRecordings } from '../files/find-files.ts'
import { repairRecordings } from '../files/repair.ts'
import { readSegment } from '../files/segment-facts.ts'
import { noteCut, NotedEnds, restoreGaps } from './restored-notes.ts'
import type { StoredIndex } from './stored-index.ts'

export interface IndexRebuildDependencies {
  folder: string
  index: StoredIndex
  /** Whether a file is being written. @param file path below the folder */
  isOpen: (file: string) => boolean
  /** Receives the number of files read so far and the number of files found. */
  progress: (done: number, total: number) => void
  signal: AbortSignal
  logger: NodeLogger
}

export interface Rebuilt {
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
