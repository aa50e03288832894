import { posix } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Header, type HeaderData } from 'tar/header'
import { contentOf, type TreeFile } from './tree.ts'

const blockBytes = 512
/** Byte of a gzip file that names the system that made it (RFC 1952, 2.3), and Unix. */
const [gzipSystemAt, unix] = [9, 3]

/** How an archive is written, so that the same files always make the same bytes. */
export interface ArchiveOptions {
  /** When everything in it was changed. */
  time: Date
  /** Level of zlib: 0 (none) to 9. */
  compression: number
  /** Before every path: `./` in Debian's archives. */
  prefix?: string
}

/** A gzipped tar archive of these files and the folders that they are in, all root's, in the order of their paths. */
export async function tarball(files: readonly TreeFile[], options: ArchiveOptions): Promise<Buffer> {
  const prefix = options.prefix ?? ''
  const blocks: Buffer[] = []
  const head = (header: HeaderData): void => {
    const written = new Header({ uid: 0, gid: 0, uname: 'root', gname: 'root', mtime: options.time, ...header })
    const block = Buffer.alloc(blockBytes)
    if (written.encode(block, 0)) throw new RangeError(`${written.path} does not fit into the header of an archive.`)
    blocks.push(block)
  }
  const folders = foldersOf(files)
  if (prefix !== '') head({ path: prefix, type: 'Directory', mode: 0o755 })
  for (const path of folders) head({ path: `${prefix}${path}/`, type: 'Directory', mode: 0o755 })
  for (const file of [...files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    if (file.target !== undefined) {
      head({ path: `${prefix}${file.path}`, type: 'SymbolicLink', linkpath: file.target, mode: 0o777 })
      continue
    }
    const content = contentOf(file)
    head({ path: `${prefix}${file.path}`, type: 'File', mode: file.mode ?? 0o644, size: content.length })
    blocks.push(content, Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes))
  }
  // Two empty blocks are the end.
  blocks.push(Buffer.alloc(2 * blockBytes))
  const packed = await promisify(gzip)(Buffer.concat(blocks), { level: options.compression })
  packed[gzipSystemAt] = unix
  return packed
}

/** Every folder that a file is in, outer ones first. */
export function foldersOf(files: readonly TreeFile[]): string[] {
  const folders = new Set<string>()
  for (const { path } of files) {
    for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder)) folders.add(folder)
  }
  return [...folders].sort()
}
