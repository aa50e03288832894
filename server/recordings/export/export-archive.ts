import { stat, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { insideOf, type OwnPath } from '../../../shared/files/own-path.ts'
import { removeInside, reserveInside } from '../../../shared/files/real-path.ts'
import type { RecordedStream } from '../../../shared/recordings/segment.ts'
import type { RecordingIndex } from '../recording-index.ts'
import type { WrittenFile } from './span-export.ts'

/** Files of several streams, and where they go. */
export interface ArchiveParts {
  /** Recordings folder. */
  recordings: string
  folder: OwnPath
  /** Name of the tar. */
  name: string
  files: readonly { stream: RecordedStream; file: WrittenFile }[]
  view: { from: number; to: number; keepGaps: boolean }
  index: RecordingIndex
  signal: AbortSignal
}

/** Puts files into one tar, with `timeline.json` that says who was there when. The files are deleted. @returns bytes of the tar */
export async function writeArchive({
  recordings,
  folder,
  name,
  files,
  view,
  index,
  signal,
}: ArchiveParts): Promise<number> {
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
  const reserved = (file: string): Promise<OwnPath> => reserveInside(recordings, insideOf(folder, file))
  await writeFile(await reserved('timeline.json'), `${JSON.stringify(timeline, undefined, 2)}\n`)
  signal.throwIfAborted()
  const path = await reserved(name)
  const { create } = await import('tar')
  await create({ file: path, cwd: folder, portable: true }, ['timeline.json', ...names])
  await Promise.all(['timeline.json', ...names].map((each) => removeInside(recordings, insideOf(folder, each))))
  const { size } = await stat(path)
  return size
}

/** Name of whoever it is, and the times in which they were recorded. */
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
