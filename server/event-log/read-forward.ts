import { readFile } from 'node:fs/promises'
import { insideOf } from '../../shared/files/own-path.ts'
import { hasCode } from '../../shared/error-code.ts'
import type { EventEntry } from '../../shared/console/events.ts'
import { entryOf, placeOf } from './entry-line.ts'
import type { Segment } from './segments.ts'

/** Entries after a number, oldest first, read from the files. Entries that are gone, or damaged, are left out. @throws what the file system says */
export async function readForward(
  folder: string,
  segments: readonly Segment[],
  after: number,
  limit: number,
): Promise<EventEntry[]> {
  const entries: EventEntry[] = []
  for (const [index, { name }] of segments.entries()) {
    const next = segments[index + 1]
    if (next !== undefined && next.first <= after + 1) continue
    const text = await contentOf(insideOf(folder, name))
    for (let from = 0; from < text.length && entries.length < limit; ) {
      const newline = text.indexOf(0x0a, from)
      if (newline === -1) break
      const line = text.subarray(from, newline)
      from = newline + 1
      const entry = (placeOf(line)?.seq ?? 0) > after ? entryOf(line) : undefined
      if (entry !== undefined) entries.push(entry)
    }
    if (entries.length >= limit) break
  }
  return entries
}

/** A segment is a few megabytes; it may be removed while its entries are read. */
async function contentOf(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return Buffer.alloc(0)
    throw error
  }
}
