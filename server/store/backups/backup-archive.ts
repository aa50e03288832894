import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { eventsFolder } from './backup-events.ts'
import { backupsFolder } from './backup-folder.ts'
import { keptMark, parseBackupName, uploadedMark } from './backups.ts'
import { listFolder } from '../files/durable-files.ts'

/** Bytes of a block of tar (POSIX.1-1988, ustar). */
const block = 512
/** Of a path in a header of ustar. */
const maxPath = 100

/** One stretch of the archive: bytes that are made, or those of a file. */
type Stretch = { start: number; end: number } & ({ bytes: Buffer } | { path: string })

/**
 * A part of a backup as a tar archive, which is the same each time: a backup never changes once it is made. Nothing is packed beforehand, so a part costs no more than its bytes.
 * @returns the part, shorter at the end, and the bytes of the whole archive
 * @throws ENOENT when there is no backup of this name
 */
export async function readArchive(
  folder: string,
  name: string,
  offset: number,
  length: number,
): Promise<{ bytes: Buffer; total: number }> {
  const at = parseBackupName(name)?.at
  if (at === undefined) throw Object.assign(new Error(`There is no backup ${name}.`), { code: 'ENOENT' })
  const stretches = await layoutOf(join(folder, backupsFolder, name), name, at)
  const total = stretches.at(-1)?.end ?? 0
  const end = Math.min(offset + length, total)
  const parts: Buffer[] = []
  for (const stretch of stretches) {
    const [from, to] = [Math.max(offset, stretch.start) - stretch.start, Math.min(end, stretch.end) - stretch.start]
    if (from >= to) continue
    parts.push('bytes' in stretch ? stretch.bytes.subarray(from, to) : await readPart(stretch.path, from, to - from))
  }
  return { bytes: Buffer.concat(parts), total }
}

async function layoutOf(backup: string, name: string, at: number): Promise<Stretch[]> {
  await stat(backup)
  const events = (await listFolder(join(backup, eventsFolder))).map((file) => `${eventsFolder}/${file}`)
  // Marks say nothing elsewhere.
  const files = (await listFolder(backup)).filter(
    (file) => file !== eventsFolder && file !== keptMark && file !== uploadedMark,
  )
  const stretches: Stretch[] = []
  let end = 0
  const add = (size: number, what: { bytes: Buffer } | { path: string }): void => {
    if (size > 0) stretches.push({ start: end, end: end + size, ...what })
    end += size
  }
  for (const file of [...files, ...events].sort()) {
    const path = join(backup, file)
    const { size } = await stat(path)
    add(block, { bytes: headerOf(`${name}/${file}`, size, at) })
    add(size, { path })
    const rest = (block - (size % block)) % block
    add(rest, { bytes: Buffer.alloc(rest) })
  }
  add(2 * block, { bytes: Buffer.alloc(2 * block) })
  return stretches
}

async function readPart(path: string, position: number, length: number): Promise<Buffer> {
  const file = await open(path)
  try {
    const bytes = Buffer.alloc(length)
    const { bytesRead } = await file.read(bytes, 0, length, position)
    if (bytesRead < length) throw new Error(`${path} is shorter than it was.`)
    return bytes
  } finally {
    await file.close()
  }
}

/** The header of a file, which its owner alone may read. */
function headerOf(path: string, size: number, at: number): Buffer {
  if (path.length > maxPath) throw new Error(`${path} is too long for the header of an archive.`)
  const header = Buffer.alloc(block)
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`
  header.write(path, 0)
  header.write(octal(0o600, 7), 100)
  header.write(octal(0, 7), 108)
  header.write(octal(0, 7), 116)
  header.write(octal(size, 11), 124)
  header.write(octal(Math.floor(at / 1_000), 11), 136)
  header.write('        ', 148)
  header.write('0', 156)
  header.write('ustar\u000000', 257, 'latin1')
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 6)} `, 148)
  return header
}
