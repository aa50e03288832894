import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { hasCode } from '../../../shared/error-code.ts'
import { PathError } from '../../../shared/files/own-path.ts'
import type { HeldRequest } from '../../capabilities/holder-pages.ts'
import type { StoredCapabilityKind } from '../../store/capability-record.ts'
import { type ByteRange, wantedRange } from '../playback/fragments.ts'

export interface ServedBytes {
  /** Size in bytes. */
  size: number
  /** Ranges that may be read; undefined: the whole content. */
  allowed?: readonly ByteRange[]
  /** Returns a stream of a non-empty range. */
  read: (part: ByteRange) => Readable
}

/**
 * Sends the whole content or the requested range (RFC 9110, section 14). The caller sets the content type.
 * If only some ranges may be read, a request without a range receives nothing. A request that starts inside an allowed
 * range receives at most the rest of that range.
 */
export function answerContent<K extends StoredCapabilityKind>(
  { context }: HeldRequest<K>,
  { size, allowed, read }: ServedBytes,
): void {
  context.set('Accept-Ranges', 'bytes')
  const range = wantedRange(context.get('Range'), size)
  const part = range === 'outside' ? undefined : partOf(range, size, allowed)
  if (part === undefined) {
    context.status = 416
    context.set('Content-Range', `bytes */${size}`)
    context.body = ''
    return
  }
  const isWhole = range === 'all'
  context.status = isWhole ? 200 : 206
  if (!isWhole) context.set('Content-Range', `bytes ${part.offset}-${part.offset + part.bytes - 1}/${size}`)
  const isBare = context.method === 'HEAD' || part.bytes === 0
  context.body = isBare ? '' : read(part)
  context.length = part.bytes
}

/** Returns the part of a content to send; undefined: no part of it is allowed. */
function partOf(
  range: 'all' | ByteRange,
  size: number,
  allowed: readonly ByteRange[] | undefined,
): ByteRange | undefined {
  if (allowed === undefined) return range === 'all' ? { offset: 0, bytes: size } : range
  if (range === 'all') return undefined
  const end = range.offset + range.bytes
  const around = joinedRanges(allowed).find(
    ({ offset, bytes }) => range.offset >= offset && range.offset < offset + bytes,
  )
  if (around === undefined) return undefined
  return { offset: range.offset, bytes: Math.min(end, around.offset + around.bytes) - range.offset }
}

/** Returns ranges in order, with adjacent ranges merged. */
function joinedRanges(ranges: readonly ByteRange[]): ByteRange[] {
  const joined: ByteRange[] = []
  for (const { offset, bytes } of ranges.toSorted((one, other) => one.offset - other.offset)) {
    const before = joined.at(-1)
    if (before === undefined || offset > before.offset + before.bytes) joined.push({ offset, bytes })
    else before.bytes = Math.max(before.bytes, offset + bytes - before.offset)
  }
  return joined
}

/**
 * Sends the current content of a file; see `answerContent`. Returns false if the file does not exist.
 * @param open opens a file inside a folder of this program
 */
export async function answerFile<K extends StoredCapabilityKind>(
  request: HeldRequest<K>,
  open: () => Promise<FileHandle>,
  allowed?: readonly ByteRange[],
): Promise<boolean> {
  const file = await open().catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT') && !(error instanceof PathError)) throw error
    return undefined
  })
  if (file === undefined) return false
  let isRead = false
  try {
    const { size } = await file.stat()
    const read = ({ offset, bytes }: ByteRange): Readable => {
      isRead = true
      // The stream closes the file at its end and when the client disconnects.
      return file.createReadStream({ start: offset, end: offset + bytes - 1 })
    }
    answerContent(request, { size, read, ...(allowed && { allowed }) })
  } finally {
    if (!isRead) await file.close()
  }
  return true
}
