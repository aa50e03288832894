import { constants } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Disk } from './disk.ts'
import { diskError } from './disk-error.ts'
import { factsOf } from './facts.ts'
import { SimulatedHandle } from './handle.ts'

const { O_APPEND, O_CREAT, O_EXCL, O_RDWR, O_TRUNC, O_WRONLY } = constants

/** Flags of open(2) by the names that Node gives them. */
const flagsByName: Readonly<Record<string, number>> = {
  r: constants.O_RDONLY,
  'r+': O_RDWR,
  w: O_WRONLY | O_CREAT | O_TRUNC,
  wx: O_WRONLY | O_CREAT | O_EXCL,
  a: O_WRONLY | O_CREAT | O_APPEND,
}

export function flagsOf(flags: string | number): number {
  if (typeof flags === 'number') return flags
  const known = flagsByName[flags]
  if (known === undefined) throw new Error(`The simulated disk does not know the flags ${flags}.`)
  return known
}

interface WriteOptions {
  mode?: number
  flag?: string
  flush?: boolean
}
type ReadOptions = BufferEncoding | { encoding?: BufferEncoding } | undefined

async function open(disk: Disk, path: string, flags: string | number = 'r', mode = 0o666): Promise<SimulatedHandle> {
  return new SimulatedHandle(disk, await disk.open(path, flagsOf(flags), mode))
}

async function using<T>(handle: SimulatedHandle, run: (handle: SimulatedHandle) => Promise<T>): Promise<T> {
  try {
    return await run(handle)
  } finally {
    await handle.close()
  }
}

async function makeFolders(disk: Disk, path: string, mode: number): Promise<void> {
  try {
    await disk.makeFolder(path, mode)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'EEXIST') return
    if (code !== 'ENOENT') throw error
    await makeFolders(disk, dirname(path), mode)
    await disk.makeFolder(path, mode)
  }
}

async function removeAll(disk: Disk, path: string): Promise<void> {
  const { node } = await disk.stat(path)
  if (node.kind === 'folder') for (const [name] of await disk.list(path)) await removeAll(disk, join(path, name))
  await disk.remove(path)
}

/** Functions of `node:fs/promises` that the file driver uses, on a simulated disk. */
export const promisesOnDisk = {
  open,
  readFile: async (disk: Disk, path: string, options: ReadOptions) => {
    const bytes = await using(await open(disk, path), (handle) => handle.readFile())
    const encoding = typeof options === 'string' ? options : options?.encoding
    return encoding === undefined ? bytes : bytes.toString(encoding)
  },
  writeFile: async (disk: Disk, path: string, content: string | Uint8Array, options: WriteOptions = {}) => {
    await using(await open(disk, path, options.flag ?? 'w', options.mode), async (handle) => {
      await handle.writeFile(content)
      if (options.flush === true) await handle.sync()
    })
  },
  copyFile: async (disk: Disk, from: string, to: string, mode = 0) => {
    await using(await open(disk, from), async (source) => {
      const flags = (mode & constants.COPYFILE_EXCL) !== 0 ? 'wx' : 'w'
      await using(await open(disk, to, flags), async (copy) => copy.writeFile(await source.readFile()))
    })
  },
  truncate: (disk: Disk, path: string, size = 0) =>
    open(disk, path, 'r+').then((handle) => using(handle, () => handle.truncate(size))),
  rename: (disk: Disk, from: string, to: string) => disk.rename(from, to),
  link: (disk: Disk, from: string, to: string) => disk.link(from, to),
  chmod: (disk: Disk, path: string, mode: number) => disk.setMode(path, mode),
  stat: async (disk: Disk, path: string) => factsOf(await disk.stat(path)),
  // There are no links on it.
  lstat: async (disk: Disk, path: string) => factsOf(await disk.stat(path)),
  realpath: async (disk: Disk, path: string) => {
    await disk.stat(path)
    return path
  },
  readdir: async (disk: Disk, path: string, options: { withFileTypes?: boolean } = {}) => {
    const found = await disk.list(path)
    if (options.withFileTypes !== true) return found.map(([name]) => name)
    return found.map(([name, node]) => ({ name, ...factsOf({ node, size: 0 }) }))
  },
  mkdir: async (disk: Disk, path: string, options: { recursive?: boolean; mode?: number } = {}) => {
    if (options.recursive === true) await makeFolders(disk, path, options.mode ?? 0o777)
    else await disk.makeFolder(path, options.mode ?? 0o777)
  },
  rm: async (disk: Disk, path: string, options: { recursive?: boolean; force?: boolean } = {}) => {
    try {
      const { node } = await disk.stat(path)
      if (node.kind === 'folder' && options.recursive !== true) throw diskError('EISDIR', 'rm', path)
      await (options.recursive === true ? removeAll(disk, path) : disk.remove(path))
    } catch (error) {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!isMissing || options.force !== true) throw error
    }
  },
} as const
