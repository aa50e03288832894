import { opendir } from 'node:fs/promises'
import { insideOf, isPathPart, type OwnPath, PathError } from '../../../shared/files/own-path.ts'
import { openInside } from '../../../shared/files/real-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import type { Gap, RecordedStream, Segment } from '../../../shared/recordings/segment.ts'
import { type Note, noteSchema, notesFile, type StreamNames } from './note.ts'

/** Maximum number of bytes read from a notes file. A day of segments that end every second has 10 MB. */
const maxBytes = 32 * 1024 * 1024
/** Maximum numbers of days read per stream and of gaps held in memory. */
const maxDays = 4_000
const maxGaps = 100_000

/** End of a segment in the notes. */
export interface NotedEnd extends Pick<Segment, 'endedAt' | 'end'> {
  live: boolean
}

/** Gaps of a stream in the notes. */
export interface NotedGaps {
  stream: RecordedStream
  names: StreamNames
  /**
   * Gaps in the order of the notes. A gap without an end continues, or its end was not noted because the program
   * stopped.
   */
  gaps: Pick<Gap, 'from' | 'to' | 'reason'>[]
}

/**
 * Reads the ends of a day's segments from the notes, by file name. Segments without a noted end are `unknown`. Returns
 * an empty map for a folder without notes.
 * @param folder the recordings folder
 * @throws Error of the disk
 */
export async function notedEnds(folder: string, dayFolder: OwnPath): Promise<Map<string, NotedEnd | 'unknown'>> {
  const ends = new Map<string, NotedEnd | 'unknown'>()
  for (const note of await notesOf(folder, dayFolder)) {
    if (note.type === 'began') ends.set(note.file, 'unknown')
    if (note.type === 'ended') ends.set(note.file, { endedAt: note.endedAt, end: note.end, live: note.live === true })
  }
  return ends
}

/** Reads the gaps of every stream of a recordings folder from the notes. @throws Error of the disk */
export async function* notedGaps(folder: string): AsyncGenerator<NotedGaps> {
  for await (const room of foldersOf(folder)) {
    for await (const stream of foldersOf(room)) {
      const gaps = await gapsOf(folder, stream)
      if (gaps !== undefined) yield gaps
    }
  }
}

async function gapsOf(folder: string, stream: OwnPath): Promise<NotedGaps | undefined> {
  const days: OwnPath[] = []
  for await (const day of foldersOf(stream)) if (days.length < maxDays) days.push(day)
  let found: NotedGaps | undefined
  for (const day of days.sort()) {
    for (const note of await notesOf(folder, day)) {
      if (note.type === 'stream') {
        const { roomId, userId, source, quality, userName, topic, device } = note
        found = {
          stream: { roomId, userId, source, quality },
          names: { userName, topic, device },
          gaps: found?.gaps ?? [],
        }
      } else if (found !== undefined) takeGap(found.gaps, note)
    }
  }
  return found === undefined || found.gaps.length === 0 ? undefined : found
}

function takeGap(gaps: NotedGaps['gaps'], note: Note): void {
  const last = gaps.at(-1)
  const at = note.type === 'gap' ? note.from : note.type === 'gapEnded' ? note.at : undefined
  if (at !== undefined && last?.to === null) last.to = Math.max(last.from, at)
  if (note.type !== 'gap') return
  if (gaps.length === maxGaps) gaps.shift()
  gaps.push({ from: note.from, to: note.to, reason: note.reason })
}

/** Reads the notes of a day. Skips invalid lines, which a power cut may leave. */
async function notesOf(folder: string, dayFolder: OwnPath): Promise<Note[]> {
  const text = await readStart(folder, insideOf(dayFolder, notesFile))
  const notes: Note[] = []
  for (const line of text.split('\n')) {
    if (line === '') continue
    const parsed = noteSchema.safeParse(valueOf(line))
    if (parsed.success) notes.push(parsed.data)
  }
  return notes
}

function valueOf(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

async function readStart(folder: string, path: OwnPath): Promise<string> {
  const handle = await openInside(folder, path).catch(withoutFile)
  if (handle === undefined) return ''
  try {
    const { size } = await handle.stat()
    const bytes = Buffer.alloc(Math.min(size, maxBytes))
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0)
    return bytes.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

async function* foldersOf(folder: string): AsyncGenerator<OwnPath> {
  const opened = await opendir(folder).catch(withoutMissing)
  if (opened === undefined) return
  for await (const entry of opened) {
    if (entry.isDirectory() && isPathPart(entry.name)) yield insideOf(folder, entry.name)
  }
}

/** Treats notes that are a link or a pipe as missing. */
function withoutFile(error: unknown): undefined {
  return error instanceof PathError ? undefined : withoutMissing(error)
}

function withoutMissing(error: unknown): undefined {
  if (hasCode(error, 'ENOENT')) return undefined
  throw error
}
