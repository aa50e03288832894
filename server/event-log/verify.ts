import { open } from 'node:fs/promises'
import { insideOf } from '../../shared/files/own-path.ts'
import { hasCode } from '../../shared/error-code.ts'
import type { LogVerdict } from '../../shared/console/events.ts'
import type { Sealer } from '../store/sealer.ts'
import { ChainWalk, type Found, verdictWithoutHead } from './chain-walk.ts'
import { readHead } from './head-file.ts'
import { listSegments, maxLine } from './segments.ts'

const chunkBytes = 256 * 1024
/** Times that the log may be shortened under the eyes of who reads it. */
const attempts = 3

/**
 * Reads the whole log and checks whether an entry was changed or removed, at the beginning and at the end too. A last line that a crash cut short, behind the seal, is not
 * counted. Works on a folder that is written at the same time.
 * @param options `reached`: number of an entry that the log had; 0: unknown
 * @throws what the file system says when the folder cannot be read; AbortSignal's reason
 */
export async function verifyLog(
  folder: string,
  sealer: Pick<Sealer, 'proof'>,
  { signal, reached = 0 }: { signal?: AbortSignal | undefined; reached?: number | undefined } = {},
): Promise<LogVerdict> {
  const startedAt = performance.now()
  for (let attempt = 1; ; attempt++) {
    const read = await readHead(folder, sealer)
    const found = notShorter(await verifyAgainst(folder, read, signal), read, reached)
    const changedMeanwhile = found.fault !== null && attempt < attempts && (await isOtherHead(folder, sealer, read))
    if (changedMeanwhile) continue
    return { ...found, milliseconds: Math.round(performance.now() - startedAt) }
  }
}

/** A log that is whole by itself and ends before an entry that it had was replaced by an older one, or removed. */
function notShorter(found: Found, read: Awaited<ReturnType<typeof readHead>>, reached: number): Found {
  const end = read.state === 'good' ? Math.max(read.head.newest.seq, found.newest) : 0
  return found.ok && end < reached ? { ...found, ok: false, fault: 'shortened', first_bad: end + 1 } : found
}

async function isOtherHead(
  folder: string,
  sealer: Pick<Sealer, 'proof'>,
  before: Awaited<ReturnType<typeof readHead>>,
): Promise<boolean> {
  return JSON.stringify(await readHead(folder, sealer)) !== JSON.stringify(before)
}

async function verifyAgainst(
  folder: string,
  read: Awaited<ReturnType<typeof readHead>>,
  signal: AbortSignal | undefined,
): Promise<Found> {
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

/** Reads a segment chunk by chunk, whole lines at a time. @returns false when something is wrong with it */
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
    // A line without an end behind the seal was being written when the process ended.
    return filled === 0 || walk.isSealed || walk.fail('cutOff')
  } finally {
    await handle.close()
  }
}
