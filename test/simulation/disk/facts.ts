import { constants } from 'node:fs'
import type { DiskNode } from './folder-node.ts'

/** As `fs.Stats`, as far as the file driver asks. */
export function factsOf({ node, size }: { node: DiskNode; size: number }) {
  const type = node.kind === 'folder' ? constants.S_IFDIR : constants.S_IFREG
  return {
    size,
    mode: type | node.mode,
    uid: process.getuid?.() ?? 0,
    isFile: () => node.kind === 'file',
    isDirectory: () => node.kind === 'folder',
    isSymbolicLink: () => false,
  }
}
