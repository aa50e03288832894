import { opendir, readdir } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { clearTimeout, setTimeout } from 'node:timers'
import { z } from 'zod'
import { hasCode } from '../../shared/error-code.ts'
import { insideOf, isPathPart, type OwnPath, PathError } from '../../shared/files/own-path.ts'
import { makeInside, openInside, refuseLinks, removeInside } from '../../shared/files/real-path.ts'
import { streamSources } from '../../shared/media/stream-source.ts'
import { segmentPath } from '../../shared/recordings/segment-path.ts'
import {
  type Gap,
  gapReasons,
  momentSchema,
  recordedQualities,
  type RecordedStream,
  type Segment,
  segmentEnds,
  type SegmentStart,
} from '../../shared/recordings/segment.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'

/** File with the notes in the folder of a stream's day. */
const notesFile = 'notes.jsonl'

/**
 * Line in the notes of a day, with facts that the segment files cannot contain. `stream` precedes the notes of each
 * process. A `gap` without an end (null) lasts until a `gapEnded`, the next `gap`, or the next segment.
 */
const noteSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('stream'),
    roomId: z.string().min(1).max(128),
    userId: z.string().min(1).max(128),
    source: z.enum(streamSources),
    quality: z.enum(recordedQualities),
    userName: z.string().max(256),
    topic: z.string().max(600),
    device: z.boolean(),
  }),
  /** A segment started. Without an `ended` note, its process or the controller stopped before its end. */
  z.strictObject({ type: z.literal('began'), file: z.string().min(1).max(64) }),
  z.strictObject({
    type: z.literal('ended'),
    /** File name in the folder of the day. */
    file: z.string().min(1).max(64),
    endedAt: momentSchema,
    end: z.enum(segmentEnds),
    live: z.literal(true).optional(),
  }),
  z.strictObject({
    type: z.literal('gap'),
    from: momentSchema,
    to: momentSchema.nullable(),
    reason: z.enum(gapReasons),
  }),
  z.strictObject({ type: z.literal('gapEnded'), at: momentSchema }),
])
type Note = z.output<typeof noteSchema>

export interface StreamNames {
  userName: string
  topic: string
  device: boolean
}

/** Returns the folder of a stream's day, relative to the recordings folder. @param at milliseconds since the epoch */
function dayFolder(stream: RecordedStream, at: number): string {
  return dirname(segmentPath(stream, at, 'mp4'))
}

const dayName = /^\d{4}-\d{2}-\d{2}$/

/**
 * Removes the oldest days of a stream that contain only notes and no recordings. Never rejects: remaining files are
 * removed by the next call.
 * @param recordings the recordings folder
 * @param folder folder of the stream inside `recordings`
 * @param before removes only days that end before this time; undefined: all
 */
export async function removeNotedDays(recordings: string, folder: OwnPath, before?: Date): Promise<void> {
  const limit = before?.toISOString().slice(0, 10)
  try {
    await refuseLinks(recordings, folder)
    const days = (await readdir(folder)).filter((name) => dayName.test(name)).sort()
    for (const day of days) {
      if (limit !== undefined && day >= limit) return
      const path = insideOf(folder, day)
      const names = await readdir(path)
      if (names.some((name) => name !== notesFile)) return
      await removeInside(recordings, path, { recursive: true })
    }
  } catch {
    // The disk failed, or a recording was added meanwhile.
  }
}

/** Time for which notes are collected before they are written, in milliseconds. */
const writeAfterMs = 1_000
/** Maximum number of notes kept while the disk fails. */
const maxWaiting = 50_000
/** Age at which days that contain only notes are deleted, in milliseconds; the same as for gaps in the index. */
const keptMs = 90 * 24 * 60 * 60_000
/** Maximum number of remembered folders whose notes already have a `stream` line. */
const maxBegun = 20_000

/**
 * Notes beside the recordings: gaps, and times and reasons of the ends of segments. With the notes, the index can be
 * rebuilt from the folder alone. Notes are written in the background after a second, so a failing disk delays no
 * caller.
 */
export class RecordingNotes {
  readonly #folder: string
  readonly #logger: NodeLogger
  readonly #begun = new Set<string>()
  #waiting = new Map<string, string[]>()
  #count = 0
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> = Promise.resolve()
  #failed = false

  constructor(folder: string, logger: NodeLogger) {
    this.#folder = folder
    this.#logger = logger
  }

  /** Notes the start of a segment. Its end is noted later, unless the process or the controller stops before. */
  began(segment: SegmentStart): void {
    this.#add(dirname(segment.file), segment, segment, { type: 'began', file: basename(segment.file) })
  }

  /** Notes the end of a segment. @param live whether the segment serves live viewing only */
  ended(segment: Segment, live: boolean): void {
    const { file, endedAt, end } = segment
    const note: Note = { type: 'ended', file: basename(file), endedAt, end, ...(live && { live }) }
    this.#add(dirname(file), segment, segment, note)
  }

  gap(gap: Gap, names: StreamNames): void {
    const { from, to, reason } = gap
    this.#add(dayFolder(gap, from), gap, names, { type: 'gap', from, to, reason })
  }

  /** Notes the end of an open gap. @param names undefined: the names were noted with the gap */
  gapEnded(stream: RecordedStream, at: number, names?: StreamNames): void {
    this.#add(dayFolder(stream, at), stream, names, { type: 'gapEnded', at })
  }

  /** Writes pending notes. Resolves when they are on the disk, or the disk has failed. */
  async write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const waiting = this.#waiting
    this.#waiting = new Map()
    this.#work = this.#work.then(async () => {
      for (const [folder, lines] of waiting) await this.#append(folder, lines)
    })
    await this.#work
  }

  /** Writes all pending notes. */
  async close(): Promise<void> {
    await this.write()
    clearTimeout(this.#timer)
  }

  #add(folder: string, stream: RecordedStream, names: StreamNames | undefined, note: Note): void {
    if (this.#count >= maxWaiting) return
    let lines = this.#waiting.get(folder)
    if (lines === undefined) this.#waiting.set(folder, (lines = []))
    if (names !== undefined && !this.#begun.has(folder)) this.#begin(folder, stream, names, lines)
    lines.push(JSON.stringify(note))
    this.#count += 1
    this.#timer ??= setTimeout(() => mustNotFail(this.write()), writeAfterMs).unref()
  }

  #begin(folder: string, stream: RecordedStream, names: StreamNames, lines: string[]): void {
    if (this.#begun.size >= maxBegun) this.#begun.clear()
    this.#begun.add(folder)
    const { roomId, userId, source, quality } = stream
    const { userName, topic, device } = names
    const note: Note = { type: 'stream', roomId, userId, source, quality, userName, topic, device }
    lines.push(JSON.stringify(note))
  }

  async #append(folder: string, lines: readonly string[]): Promise<void> {
    try {
      const parts = folder.split('/')
      const path = insideOf(this.#folder, ...parts)
      if ((await makeInside(this.#folder, path)) !== undefined && parts.length > 1) {
        const stream = insideOf(this.#folder, ...parts.slice(0, -1))
        await removeNotedDays(this.#folder, stream, new Date(Date.now() - keptMs))
      }
      const notes = await openInside(this.#folder, insideOf(path, notesFile), 'append')
      try {
        // The line break separates these lines from a line truncated by a power cut.
        await notes.appendFile(`\n${lines.join('\n')}\n`)
      } finally {
        await notes.close()
      }
      this.#count -= lines.length
      this.#failed = false
    } catch (error) {
      if (!this.#failed) this.#logger.error({ err: error, folder }, 'notes of recordings cannot be written')
      this.#failed = true
      if (error instanceof PathError) {
        // A link in place of the notes is not replaced: these lines are dropped.
        this.#count -= lines.length
        return
      }
      this.#waiting.set(folder, [...lines, ...(this.#waiting.get(folder) ?? [])])
      this.#timer ??= setTimeout(() => mustNotFail(this.write()), writeAfterMs).unref()
    }
  }
}

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
interface NotedGaps {
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
