import { basename, dirname } from 'node:path'
import { clearTimeout, setTimeout } from 'node:timers'
import { insideOf, PathError } from '../../../shared/files/own-path.ts'
import { makeInside, openInside } from '../../../shared/files/real-path.ts'
import type { Gap, RecordedStream, Segment, SegmentStart } from '../../../shared/recordings/segment.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import type { NodeLogger } from '../../nodes/port/node-failure.ts'
import { dayFolder, type Note, notesFile, removeNotedDays, type StreamNames } from './note.ts'

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
