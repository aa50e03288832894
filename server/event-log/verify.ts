import { open } from 'node:fs/promises'
import { insideOf } from '../../shared/files/own-path.ts'
import { hasCode } from '../../shared/error-code.ts'
import type { LogVerdict, LogFault } from '../../shared/domain/events.ts'
import type { Sealer } from '../store/sealer.ts'
import { faultOfHead, type LogHead, type ReadHead, readLogHead } from './log-seal.ts'
import { listSegments, maxLine } from './segments.ts'
import { type ChainEnd, isIntact, noHash, linePlaceOf } from './entry-line.ts'

const chunkBytes = 256 * 1024
/** Maximum number of attempts while the log is being shortened. */
const attempts = 3

/**
 * Reads the whole log and checks whether an entry was changed or removed, also at the start and end of the log. A torn
 * last line after the seal is ignored. Works while the folder is being written.
 * @param options `reached`: number of an entry that the log contained; 0: unknown
 * @throws errors of the file system when the folder cannot be read; AbortSignal's reason
 */
export async function verifyLog(
  folder: string,
  sealer: Pick<Sealer, 'proof'>,
  { signal, reached = 0 }: { signal?: AbortSignal | undefined; reached?: number | undefined } = {},
): Promise<LogVerdict> {
  const startedAt = performance.now()
  for (let attempt = 1; ; attempt++) {
    const read = await readLogHead(folder, sealer)
    const found = notShorter(await verifyAgainst(folder, read, signal), read, reached)
    const changedMeanwhile = found.fault !== null && attempt < attempts && (await isOtherHead(folder, sealer, read))
    if (changedMeanwhile) continue
    return { ...found, milliseconds: Math.round(performance.now() - startedAt) }
  }
}

/** Reports a valid log that ends before a recorded entry: an older copy replaced the log, or entries were removed. */
function notShorter(
  found: VerifiedEntries,
  read: Awaited<ReturnType<typeof readLogHead>>,
  reached: number,
): VerifiedEntries {
  const end = read.state === 'good' ? Math.max(read.head.newest.seq, found.newest) : 0
  return found.ok && end < reached ? { ...found, ok: false, fault: 'shortened', first_bad: end + 1 } : found
}

async function isOtherHead(
  folder: string,
  sealer: Pick<Sealer, 'proof'>,
  before: Awaited<ReturnType<typeof readLogHead>>,
): Promise<boolean> {
  return JSON.stringify(await readLogHead(folder, sealer)) !== JSON.stringify(before)
}

async function verifyAgainst(
  folder: string,
  read: Awaited<ReturnType<typeof readLogHead>>,
  signal: AbortSignal | undefined,
): Promise<VerifiedEntries> {
  if (read.state !== 'good') return verdictWithoutHead(read.state, (await listSegments(folder))[0]?.first)
  const walk = new ChainWalk(read.head)
  for (const { name, first } of await listSegments(folder, read.head.oldest.seq)) {
    if (!walk.begin(name, first)) break
    try {
      if (!(await readInto(walk, insideOf(folder, name), signal))) break
    } catch (error) {
      if (!hasCode(error, 'ENOENT', 'EACCES', 'EIO', 'EISDIR')) throw error
      walk.fail('unreadable')
      break
    }
  }
  return walk.end()
}

/** Reads a segment in chunks of complete lines. @returns false: the segment has a fault */
async function readInto(walk: ChainWalk, path: string, signal: AbortSignal | undefined): Promise<boolean> {
  const handle = await open(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(chunkBytes + maxLine)
    let filled = 0
    for (;;) {
      signal?.throwIfAborted()
      const { bytesRead } = await handle.read(buffer, filled, chunkBytes, null)
      if (bytesRead === 0) break
      filled += bytesRead
      let from = 0
      for (;;) {
        const end = buffer.subarray(0, filled).indexOf(0x0a, from)
        if (end === -1) break
        if (!walk.take(buffer.subarray(from, end))) return false
        from = end + 1
      }
      if (filled - from > maxLine) return walk.fail('changed')
      buffer.copyWithin(0, from, filled)
      filled -= from
    }
    // The process ended while it wrote an unfinished line after the seal.
    return filled === 0 || walk.isSealed || walk.fail('cutOff')
  } finally {
    await handle.close()
  }
}

/** A verdict without its duration. */
export type VerifiedEntries = Omit<LogVerdict, 'milliseconds'>

/**
 * Returns the verdict on a log without a usable head, which cannot be checked.
 * @param first number of the log's first entry; undefined: an empty log, which is valid without a head
 */
export function verdictWithoutHead(
  state: Exclude<ReadHead['state'], 'good'>,
  first: number | undefined,
): VerifiedEntries {
  const isNew = first === undefined && state === 'missing'
  const nothing = { entries: 0, oldest: 0, newest: 0, unsealed: 0, file: '' }
  return { ok: isNew, fault: isNew ? null : faultOfHead(state), first_bad: isNew ? 0 : (first ?? 1), ...nothing }
}

/** Verifies the chain from entry to entry. */
export class ChainWalk {
  readonly #head: LogHead
  #last: ChainEnd
  #entries = 0
  #file = ''
  #fault: LogFault | undefined
  /** Number of the first entry with a fault. */
  #bad = 0
  /** Whether an entry with the hash of the head's newest entry was found. */
  #metNewest: boolean

  constructor(head: LogHead) {
    this.#head = head
    this.#last = { seq: head.oldest.seq - 1, hash: head.oldest.prev }
    this.#metNewest = head.newest.seq < head.oldest.seq
  }

  /** Whether the last checked entry is the newest sealed entry or a later entry. */
  get isSealed(): boolean {
    return this.#last.seq >= this.#head.newest.seq
  }

  /** Starts the next segment. @returns false: a segment is missing before this segment */
  begin(name: string, first: number): boolean {
    this.#file = name
    return first === this.#last.seq + 1 || this.fail('segmentMissing')
  }

  fail(fault: LogFault): false {
    this.#fault ??= fault
    this.#bad ||= this.#last.seq + 1
    return false
  }

  /** Checks the next line, without its newline. @returns false: the line has a fault */
  take(line: Buffer): boolean {
    const place = linePlaceOf(line)
    if (place === undefined || !isIntact(line, place)) return this.fail('changed')
    if (place.seq !== this.#last.seq + 1) return this.fail(place.seq > this.#last.seq ? 'missing' : 'changed')
    if (place.prev !== this.#last.hash) return this.fail(place.prev === noHash ? 'headMissing' : 'missing')
    if (place.seq === this.#head.newest.seq) {
      if (place.hash !== this.#head.newest.hash) return this.fail('changed')
      this.#metNewest = true
    }
    this.#last = { seq: place.seq, hash: place.hash }
    this.#entries++
    return true
  }

  end(): VerifiedEntries {
    if (this.#fault === undefined && !this.#metNewest) this.fail('cutOff')
    const { oldest, newest } = this.#head
    return {
      ok: this.#fault === undefined,
      entries: this.#entries,
      oldest: this.#entries === 0 ? 0 : oldest.seq,
      newest: this.#entries === 0 ? 0 : this.#last.seq,
      unsealed: Math.max(0, this.#last.seq - newest.seq),
      fault: this.#fault ?? null,
      first_bad: this.#bad,
      file: this.#fault === undefined ? '' : this.#file,
    }
  }
}
