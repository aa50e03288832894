import fs from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hasCode } from '../../../../shared/error-code.ts'
import { startTimer, type Timer } from '../../system/time.ts'
import { checkedJson, encodeLine } from '../../journal/journal-line.ts'

/**
 * Length of the journal on disk at one moment. Changes up to there were confirmed to their callers, so a missing one was lost, and was not merely a last write that a power
 * failure cut short.
 */
export interface HighWater {
  segment: number
  /** Bytes of that segment. */
  end: number
  /** Lines of changes in them. */
  lines: number
  /** When that segment was begun, milliseconds since the epoch. */
  since: number
  /** When the last of those lines was written, milliseconds since the epoch. */
  at: number
  /** The highest room number given until then. */
  room_number: number
}

/** Name of the file in the data folder. Not `journal-…`: what takes away all segments should leave it. */
export const highWaterName = 'high-water.mark'

/** Two marks stand in the file and are overwritten in turn, so that one is whole whatever happens; both fit one sector of a disk. */
const slotBytes = 256
/** The mark reaches the file at once, which a killed process does not undo, and the disk itself this often, in milliseconds. */
const syncEvery = 1_000

const open = promisify(fs.open)
const write = promisify(fs.write)
const datasync = promisify(fs.fdatasync)
const closeFile = promisify(fs.close)

/** The mark of a data folder: undefined when there is none that can be read. */
export async function readHighWater(folder: string): Promise<HighWater | undefined> {
  let bytes: Buffer
  try {
    bytes = await readFile(join(folder, highWaterName))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  const [first, second] = [0, slotBytes].map((start) => toHighWater(checkedJson(bytes, start, start + slotBytes - 1)))
  if (first === undefined || second === undefined) return first ?? second
  return first.segment > second.segment || (first.segment === second.segment && first.end > second.end) ? first : second
}

function toHighWater(value: unknown): HighWater | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const number = (name: keyof HighWater): number => {
    const field: unknown = Reflect.get(value, name)
    return typeof field === 'number' && Number.isSafeInteger(field) && field >= 0 ? field : 0
  }
  const mark = {
    segment: number('segment'),
    end: number('end'),
    lines: number('lines'),
    since: number('since'),
    at: number('at'),
    room_number: number('room_number'),
  }
  return mark.segment > 0 ? mark : undefined
}

/** Keeps the mark up to date, beside the journal's writes and never in their way: a mark that could not be written is left out. */
export class HighWaterFile {
  readonly #path: string
  #fd: number | undefined
  #slot = 0
  /** Not written yet. */
  #next: HighWater | undefined
  #writing: Promise<void> | undefined
  #syncTimer: Timer | undefined
  #closed = false

  constructor(folder: string) {
    this.#path = join(folder, highWaterName)
  }

  /** The journal is on disk up to here. */
  reached(mark: HighWater): void {
    if (this.#closed) return
    this.#next = mark
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
    })
  }

  /** Writes the last mark to the disk itself. */
  async close(): Promise<void> {
    this.#closed = true
    this.#syncTimer?.cancel()
    await this.#writing
    await this.#end(true)
  }

  async #write(): Promise<void> {
    for (let mark = this.#next; mark !== undefined; mark = this.#next) {
      this.#next = undefined
      // The line is as long as its slot: 8 digits, a space and a newline are around the text.
      const bytes = Buffer.from(encodeLine(JSON.stringify(mark).padEnd(slotBytes - 10)))
      try {
        this.#fd ??= await open(this.#path, fs.constants.O_CREAT | fs.constants.O_RDWR, 0o600)
        await write(this.#fd, bytes, 0, bytes.length, this.#slot * slotBytes)
        this.#slot = 1 - this.#slot
        this.#syncLater()
      } catch {
        // The journal itself reports a disk that refuses.
        await this.#end(false)
      }
    }
  }

  #syncLater(): void {
    if (this.#syncTimer !== undefined || this.#closed) return
    const sync = (): void => {
      this.#syncTimer = undefined
      // An older mark proves less, and nothing wrong.
      if (this.#fd !== undefined) datasync(this.#fd).catch(() => undefined)
    }
    this.#syncTimer = startTimer(syncEvery, sync, false)
  }

  async #end(sync: boolean): Promise<void> {
    const fd = this.#fd
    if (fd === undefined) return
    this.#fd = undefined
    // An older mark proves less, and nothing wrong.
    if (sync) await datasync(fd).catch(() => undefined)
    // Likewise.
    await closeFile(fd).catch(() => undefined)
  }
}
