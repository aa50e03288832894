import { streamSources } from '../media/stream-source.ts'
import type { RecordedStream, SegmentFacts } from './segment.ts'

/**
 * Maximum length of an id in a folder name, in bytes. Its base64url does not exceed the 255 bytes that file systems
 * allow.
 */
const maxIdBytes = 150

/** Suffix of a file that is being written. The file is renamed when it is complete. */
export const partSuffix = '.part'

/**
 * Returns the folder of a stream below the recordings folder: `<room>/<user>~<source>[~substream]`, with ids as
 * base64url of their UTF-8. Long ids are truncated; the metadata of each file contains the whole id.
 */
function streamFolder({ roomId, userId, source, quality }: RecordedStream): string {
  const suffix = quality === 'substream' ? '~substream' : ''
  return `${folderOf(roomId)}/${folderOf(userId)}~${source}${suffix}`
}

/**
 * Returns the path of a segment below the recordings folder: folder of the stream, day in UTC, start in milliseconds
 * since the epoch. The media program and the controller both compute this path, so they do not have to exchange it.
 */
export function segmentPath(stream: RecordedStream, startedAt: number, container: SegmentFacts['container']): string {
  const day = new Date(startedAt).toISOString().slice(0, 10)
  return `${streamFolder(stream)}/${day}/${Math.round(startedAt)}.${container}`
}

/** Returns the metadata of a segment with its path. */
export function withPath<T extends SegmentFacts>(facts: T): T & { file: string } {
  return { ...facts, file: segmentPath(facts, facts.startedAt, facts.container) }
}

function folderOf(id: string): string {
  return Buffer.from(id, 'utf8').subarray(0, maxIdBytes).toString('base64url')
}

const pathForm = /^([\w-]+)\/([\w-]+)~(\w+?)(~substream)?\/[\d-]{10}\/(\d{1,16})\.(mp4|webm)$/

/**
 * Returns the stream and the start (rounded, in milliseconds since the epoch) from the path of a segment; undefined:
 * not such a path. Long ids in the stream are truncated.
 */
export function streamOfPath(file: string): (RecordedStream & { startedAt: number }) | undefined {
  const [, room = '', user = '', name, substream, started] = pathForm.exec(file) ?? []
  const source = streamSources.find((each) => each === name)
  if (source === undefined) return undefined
  const quality = substream === undefined ? 'main' : 'substream'
  return { roomId: idOf(room), userId: idOf(user), source, quality, startedAt: Number(started) }
}

function idOf(folder: string): string {
  return Buffer.from(folder, 'base64url').toString('utf8')
}
