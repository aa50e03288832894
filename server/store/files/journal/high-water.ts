import fs from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hasCode } from '../../../../shared/error-code.ts'
import { startTimer, type Timer } from '../../system/time.ts'
import { checkedJson, encodeLine } from '../../journal/journal-line.ts'

/**
 * Length of the durable journal at one moment. Changes up to this length were confirmed to their callers. A missing
 * change up to this length was therefore lost: it is not merely a last write that a power failure interrupted.
 */
export interface HighWater {
  segment: number
  /** Length of the segment, in bytes. */
  end: number
  /** Number of change lines in the segment. */
  lines: number
  /** Time at which the segment was created, in milliseconds since the epoch. */
  since: number
  /** Time at which the last line was written, in milliseconds since the epoch. */
  at: number
  /** The highest room number assigned up to that time. */
  room_number: number
}

/** Name of the file in the data folder. Does not begin with `journal-`, so that deleting all segments leaves it. */
export const highWaterName = 'high-water.mark'

/**
 * Size of a slot, in bytes. The file has two slots that are overwritten alternately, so that one of them is always
 * complete. Both slots fit into one disk sector.
 */
const slotBytes = 256
/** Sync interval of the file, in milliseconds. Each mark is written at once, so it survives the end of the process. */
const syncEvery = 1_000

const open = promisify(fs.open)
const write = promisify(fs.write)
const datasync = promisify(fs.fdatasync)
const closeFile = promisify(fs.close)

/** Reads the mark of a data folder; undefined: no readable mark. */
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

/**
 * Updates the mark in parallel to the journal's writes, without delaying these writes. A mark that cannot be written is
 * skipped.
 */
export class HighWaterFile {
  readonly #path: string
  #fd: number | undefined
  #slot = 0
  /** Mark that is not written yet. */
  #next: HighWater | undefined
  #writing: Promise<void> | undefined
  #syncTimer: Timer | undefined
  #closed = false

  constructor(folder: string) {
    this.#path = join(folder, highWaterName)
  }

  /** Records the length of the durable journal. */
  reached(mark: HighWater): void {
    if (this.#closed) return
    this.#next = mark
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
    })
  }

  /** Writes the last mark and syncs it. */
  async close(): Promise<void> {
    this.#closed = true
    this.#syncTimer?.cancel()
    await this.#writing
    await this.#end(true)
  }

  async #write(): Promise<void> {
    for (let mark = this.#next; mark !== undefined; mark = this.#next) {
      this.#next = undefined
      // The line fills its slot: 8 digits, a space and a newline enclose the text.
      const bytes = Buffer.from(encodeLine(JSON.stringify(mark).padEnd(slotBytes - 10)))
      try {
        this.#fd ??= await open(this.#path, fs.constants.O_CREAT | fs.constants.O_RDWR, 0o600)
        await write(this.#fd, bytes, 0, bytes.length, this.#slot * slotBytes)
        this.#slot = 1 - this.#slot
        this.#syncLater()
      } catch {
        // The journal itself reports a disk that rejects writes.
        await this.#end(false)
      }
    }
  }

  #syncLater(): void {
    if (this.#syncTimer !== undefined || this.#closed) return
    const sync = (): void => {
      this.#syncTimer = undefined
      // A failure is harmless: an older mark proves less, but nothing false.
      if (this.#fd !== undefined) datasync(this.#fd).catch(() => undefined)
    }
    this.#syncTimer = startTimer(syncEvery, sync, false)
  }

  async #end(sync: boolean): Promise<void> {
    const fd = this.#fd
    if (fd === undefined) return
    this.#fd = undefined
    // A failure is harmless: an older mark proves less, but nothing false.
    if (sync) await datasync(fd).catch(() => undefined)
    // The mark is already written.
    await closeFile(fd).catch(() => undefined)
  }
}
