import { opendir } from 'node:fs/promises'
import { insideOf, isPathPart } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { segmentContainers, type SegmentStart } from '../../../shared/recordings/segment.ts'
import { partSuffix } from '../../../shared/recordings/segment-path.ts'

export interface FoundFile {
  /** Path relative to the folder, with `/`, without the suffix of an incomplete file. */
  file: string
  container: SegmentStart['container']
  /** Start in milliseconds since the epoch, from the file name. */
  startedAt: number
  /** Whether the file is incomplete: being written, or cut off. */
  isPart: boolean
}

const namePattern = new RegExp(`^(\\d{1,16})\\.(${segmentContainers.join('|')})(\\${partSuffix})?$`)

/**
 * Lists the recordings below a folder by their names alone, without other files. A missing folder counts as empty.
 * @throws Error of the disk
 */
export async function* findRecordings(folder: string): AsyncGenerator<FoundFile> {
  const waiting: string[][] = [[]]
  for (let current = waiting.pop(); current !== undefined; current = waiting.pop()) {
    const opened = await opendir(current.length === 0 ? folder : insideOf(folder, ...current)).catch(
      (error: unknown) => {
        if (hasCode(error, 'ENOENT')) return undefined
        throw error
      },
    )
    if (opened === undefined) continue
    for await (const entry of opened) {
      if (entry.isDirectory() && isPathPart(entry.name)) waiting.push([...current, entry.name])
      const [, started, container, part] = namePattern.exec(entry.name) ?? []
      if (!entry.isFile() || container === undefined) continue
      yield {
        file: [...current, `${started ?? ''}.${container}`].join('/'),
        container: container === 'webm' ? 'webm' : 'mp4',
        startedAt: Number(started),
        isPart: part !== undefined,
      }
    }
  }
}
