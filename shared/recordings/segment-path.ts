import type { RecordedStream, SegmentStart } from './segment.ts'

/** Maximum length of an id in a folder name, in bytes: base64url of it fits the 255 bytes of file systems. */
const maxIdBytes = 150

/** Suffix of a file that is being written; it is renamed once it is complete. */
export const partSuffix = '.part'

/**
 * Folder of a stream below the recordings folder: `<room>/<user>~<source>[~substream]`, ids as base64url of their UTF-8. Of a longer id only the beginning is used: the metadata of
 * each file holds the whole.
 */
function streamFolder({ roomId, userId, source, quality }: RecordedStream): string {
  const suffix = quality === 'substream' ? '~substream' : ''
  return `${folderOf(roomId)}/${folderOf(userId)}~${source}${suffix}`
}

/** Path of a segment below the recordings folder: folder of its stream, day in UTC, start in milliseconds since the epoch. */
export function segmentPath(stream: RecordedStream, startedAt: number, container: SegmentStart['container']): string {
  const day = new Date(startedAt).toISOString().slice(0, 10)
  return `${streamFolder(stream)}/${day}/${Math.round(startedAt)}.${container}`
}

function folderOf(id: string): string {
  return Buffer.from(id, 'utf8').subarray(0, maxIdBytes).toString('base64url')
}
