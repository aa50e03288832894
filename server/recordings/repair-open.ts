import { type OwnPath, withSuffix } from '../../shared/files/own-path.ts'
import { sizeInside } from '../../shared/files/real-path.ts'
import { recordedPath } from '../../shared/files/recorded-path.ts'
import type { Segment, SegmentStart } from '../../shared/recordings/segment.ts'
import { partSuffix } from '../../shared/recordings/segment-path.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import { repairFile } from './files/repair.ts'
import { readSegment } from './files/segment-facts.ts'

/** Result for a file left open by its process. */
export interface RepairedFile {
  /** Playable segment; undefined: no part of the file can be played. */
  segment: Segment | undefined
  /** Whether the file was cut off and is now repaired. */
  wasCut: boolean
}

/** Completes a file left open by its process. Never rejects. @param folder the recordings folder */
export async function repairOpen(folder: string, segment: SegmentStart, logger: NodeLogger): Promise<RepairedFile> {
  const { file, container, startedAt } = segment
  try {
    const path = recordedPath(folder, file)
    if (await exists(folder, path)) {
      const complete = await readSegment(folder, file, 'cut')
      return { segment: complete === undefined ? undefined : { ...complete, ...segment }, wasCut: false }
    }
    if (!(await exists(folder, withSuffix(path, partSuffix)))) return { segment: undefined, wasCut: false }
    const repaired = await repairFile(folder, { file, container, startedAt: Math.round(startedAt), isPart: true })
    if (repaired.outcome === 'repaired') {
      const { segment: found } = repaired
      // The start in the index is more precise than the start in the file name.
      const endedAt = startedAt + (found.endedAt - found.startedAt)
      return { segment: { ...found, ...segment, endedAt }, wasCut: true }
    }
    if (repaired.outcome === 'damaged')
      logger.warn({ file }, 'a recording that was cut off cannot be played, and was set aside')
  } catch (error) {
    logger.error({ err: error, file }, 'a recording that was cut off could not be repaired')
  }
  return { segment: undefined, wasCut: false }
}

async function exists(folder: string, path: OwnPath): Promise<boolean> {
  return await sizeInside(folder, path).then(
    () => true,
    () => false,
  )
}
