import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** A file, or a symbolic link, of a package. Folders come of themselves. */
export interface TreeFile {
  /** From the root of the package, with `/`, without one at its beginning. */
  path: string
  /** Mode of the file; links have none. */
  mode?: number
  /** A file of this machine is read when it is written. */
  content?: Buffer | { from: string }
  /** Target of a link. */
  target?: string
}

export const plain = 0o644
export const program = 0o755

/** Every file below a folder of this machine, as files below `path`. */
export function filesBelow(folder: string, path: string, wanted: (name: string) => boolean = () => true): TreeFile[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => wanted(name) && statSync(join(folder, name)).isFile())
    .map((name) => ({ path: `${path}/${name}`, mode: plain, content: { from: join(folder, name) } }))
}

/** A file with this text. */
export function textFile(path: string, text: string, mode = plain): TreeFile {
  return { path, mode, content: Buffer.from(text) }
}

/** Content of a file. */
export function contentOf({ content, path }: TreeFile): Buffer {
  if (content === undefined) throw new TypeError(`${path} is a link and has no content.`)
  return Buffer.isBuffer(content) ? content : readFileSync(content.from)
}

/** How long that is, in bytes. */
export function sizeOf(file: TreeFile): number {
  const { content } = file
  return content !== undefined && !Buffer.isBuffer(content) ? statSync(content.from).size : contentOf(file).length
}
