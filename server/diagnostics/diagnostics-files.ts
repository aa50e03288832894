import { insideOf, isPathPart } from '../../shared/files/own-path.ts'
import { open, readdir, stat } from 'node:fs/promises'
import { relative } from 'node:path'

/** A file of the diagnostics. */
export interface DiagnosticsFile {
  name: string
  content: string | Buffer
}

/** A file on disk, with its size in bytes and its last change. */
export interface FoundFile {
  path: string
  bytes: number
  changed_at: string
}

const maxListed = 500
const deepest = 3

/** Lists files of a folder with their sizes; the largest first. A folder that is not there is empty. */
export async function sizesIn(folder: string): Promise<FoundFile[]> {
  const found: FoundFile[] = []
  await collect(folder, deepest)
  return found.sort((one, other) => other.bytes - one.bytes).slice(0, maxListed)

  async function collect(path: string, depth: number): Promise<void> {
    // What cannot be read is not listed.
    for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
      if (!isPathPart(entry.name)) continue
      const inner = insideOf(path, entry.name)
      if (entry.isDirectory() && depth > 0) await collect(inner, depth - 1)
      if (!entry.isFile() || found.length >= maxListed * 20) continue
      // It was deleted meanwhile.
      const facts = await stat(inner).catch(() => undefined)
      if (facts === undefined) continue
      found.push({ path: relative(folder, inner), bytes: facts.size, changed_at: facts.mtime.toISOString() })
    }
  }
}

/** Reads the end of a text file, from the beginning of a line. Empty: there is none. */
export async function tailOf(path: string, maxBytes: number): Promise<string> {
  // There is no such file.
  const file = await open(path).catch(() => undefined)
  if (file === undefined) return ''
  try {
    const { size } = await file.stat()
    const from = Math.max(0, size - maxBytes)
    const buffer = Buffer.alloc(size - from)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, from)
    const text = buffer.toString('utf8', 0, bytesRead)
    return from === 0 ? text : text.slice(text.indexOf('\n') + 1)
  } finally {
    await file.close()
  }
}

/** Crash reports of a folder, the newest first: Crashpad keeps them as `.dmp`. */
export async function crashReportsIn(folder: string | undefined): Promise<FoundFile[]> {
  if (folder === undefined) return []
  const reports = (await sizesIn(folder)).filter(({ path }) => path.endsWith('.dmp'))
  return reports.sort((one, other) => other.changed_at.localeCompare(one.changed_at))
}
