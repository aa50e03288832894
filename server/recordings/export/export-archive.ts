import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { insideOf, type OwnPath } from '../../../shared/files/own-path.ts'
import { removeInside, reserveInside } from '../../../shared/files/real-path.ts'
import type { RecordedStream } from '../../../shared/recordings/segment.ts'
import type { RecordingIndex } from '../recording-index.ts'
import type { WrittenExport } from './span-export.ts'

/** Files of several streams, and the archive to write. */
export interface ArchiveOptions {
  /** Recordings folder. */
  recordings: string
  folder: OwnPath
  /** Name of the zip file. */
  name: string
  files: readonly { stream: RecordedStream; file: WrittenExport }[]
  view: { from: number; to: number; keepGaps: boolean }
  index: RecordingIndex
  signal: AbortSignal
}

/**
 * Writes files and `timeline.json`, which lists who was recorded when, into one zip. Then deletes the files. Media is
 * stored uncompressed: compression saves almost nothing.
 * @returns size of the zip in bytes
 * @throws errors of the disk; AbortError
 */
export async function writeArchive({
  recordings,
  folder,
  name,
  files,
  view,
  index,
  signal,
}: ArchiveOptions): Promise<number> {
  const names = files.map(({ file }) => basename(file.path))
  const timeline = {
    from: new Date(view.from).toISOString(),
    to: new Date(view.to).toISOString(),
    gaps_closed: !view.keepGaps,
    files: files.map(({ stream, file }, number) => ({
      name: names[number],
      room_id: stream.roomId,
      user_id: stream.userId,
      source: stream.source,
      quality: stream.quality,
      begins_at: new Date(file.at).toISOString(),
      seconds: file.durationMs / 1_000,
      ...presenceOf(index, stream, view),
    })),
  }
  const path = await reserveInside(recordings, insideOf(folder, name))
  const { ZipFile } = await import('yazl')
  const zip = new ZipFile()
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  zip.on('error', (error: Error) => failed.abort(error))
  zip.addBuffer(Buffer.from(`${JSON.stringify(timeline, undefined, 2)}\n`), 'timeline.json')
  for (const [number, { file }] of files.entries()) {
    const facts = { compress: false, size: file.bytes, mtime: new Date(file.at) }
    // Files are opened one by one: an export may contain more files than a process may open.
    zip.addReadStreamLazy(names[number] ?? '', facts, (take) =>
      take(null, createReadStream(file.path, { signal: either })),
    )
  }
  zip.end()
  await pipeline(zip.outputStream, createWriteStream(path), { signal: either }).catch((error: unknown) => {
    throw failed.signal.aborted ? failed.signal.reason : error
  })
  await Promise.all(files.map(({ file }) => removeInside(recordings, file.path)))
  const { size } = await stat(path)
  return size
}

/** Returns the name of the person in a stream, and the times in which they were recorded. */
function presenceOf(
  index: RecordingIndex,
  { roomId, userId, source, quality }: RecordedStream,
  { from, to }: { from: number; to: number },
): { user_name: string; recorded: { from: string; to: string }[] } {
  const segments = index.segments({ roomId, userId, source, quality, from, to, limit: 100_000 })
  const recorded: { from: number; to: number }[] = []
  for (const { startedAt, endedAt } of segments) {
    const last = recorded.at(-1)
    if (last !== undefined && startedAt - last.to < 500) last.to = endedAt
    else recorded.push({ from: startedAt, to: endedAt })
  }
  const iso = (at: number): string => new Date(at).toISOString()
  return {
    user_name: segments[0]?.userName ?? '',
    recorded: recorded.map((span) => ({ from: iso(span.from), to: iso(span.to) })),
  }
}
