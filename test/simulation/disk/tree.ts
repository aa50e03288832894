import { constants } from 'node:fs'
import { basename, dirname } from 'node:path'
import { diskError } from './disk-error.ts'
import { type CutChance, FileNode } from './file-node.ts'
import { type DiskNode, FolderNode } from './folder-node.ts'

/** Paths under this folder are on the disk of the simulated machine. */
export const diskRoot = '/simulated'

/** The folders and files of a disk, and what system calls do with them. Each call is instant; `Disk` says how long it takes. */
export class Tree {
  readonly #root = new FolderNode(0o755)

  /** @throws ENOENT, ENOTDIR */
  find(path: string, syscall: string): DiskNode {
    let node: DiskNode = this.#root
    for (const name of path.slice(diskRoot.length).split('/')) {
      if (name === '') continue
      if (node.kind !== 'folder') throw diskError('ENOTDIR', syscall, path)
      const next: DiskNode | undefined = node.names.get(name)
      if (next === undefined) throw diskError('ENOENT', syscall, path)
      node = next
    }
    return node
  }

  /** The file or folder of this name, if there is one. */
  maybe(path: string): DiskNode | undefined {
    return this.#parent(path, 'lookup').names.get(basename(path))
  }

  /** @throws ENOENT, EEXIST, EISDIR */
  open(path: string, flags: number, mode: number): DiskNode {
    const parent = this.#parent(path, 'open')
    const found = isRoot(path) ? this.#root : parent.names.get(basename(path))
    if (found === undefined) {
      if ((flags & constants.O_CREAT) === 0) throw diskError('ENOENT', 'open', path)
      const made = new FileNode(mode)
      parent.set(basename(path), made)
      return made
    }
    if ((flags & constants.O_CREAT) !== 0 && (flags & constants.O_EXCL) !== 0) throw diskError('EEXIST', 'open', path)
    if (found.kind === 'folder' && (flags & (constants.O_WRONLY | constants.O_RDWR)) !== 0)
      throw diskError('EISDIR', 'open', path)
    if (found.kind === 'file' && (flags & constants.O_TRUNC) !== 0) found.truncate(0)
    return found
  }

  /** @throws EEXIST */
  makeFolder(path: string, mode: number): void {
    const parent = this.#parent(path, 'mkdir')
    if (isRoot(path) || parent.names.has(basename(path))) throw diskError('EEXIST', 'mkdir', path)
    parent.set(basename(path), new FolderNode(mode))
  }

  /** @throws ENOENT, EISDIR, ENOTEMPTY */
  rename(from: string, to: string): void {
    const [source, target] = [this.#parent(from, 'rename'), this.#parent(to, 'rename')]
    const node = source.names.get(basename(from))
    const replaced = target.names.get(basename(to))
    if (node === undefined) throw diskError('ENOENT', 'rename', from)
    if (replaced === node) return
    if (replaced?.kind === 'folder' && node.kind === 'file') throw diskError('EISDIR', 'rename', to)
    if (replaced?.kind === 'folder' && replaced.names.size > 0) throw diskError('ENOTEMPTY', 'rename', to)
    if (source === target) return source.rename(basename(from), basename(to), node)
    target.set(basename(to), node)
    source.remove(basename(from))
  }

  /** @throws ENOENT, EEXIST */
  link(from: string, to: string): void {
    const node = this.find(from, 'link')
    const parent = this.#parent(to, 'link')
    if (parent.names.has(basename(to))) throw diskError('EEXIST', 'link', to)
    parent.set(basename(to), node)
  }

  /** Removes a file or an empty folder. @throws ENOENT, ENOTEMPTY */
  remove(path: string): void {
    const parent = this.#parent(path, 'unlink')
    const node = parent.names.get(basename(path))
    if (node === undefined) throw diskError('ENOENT', 'unlink', path)
    if (node.kind === 'folder' && node.names.size > 0) throw diskError('ENOTEMPTY', 'rmdir', path)
    parent.remove(basename(path))
  }

  /** The power is cut. @returns what was not on the disk, for the trace */
  cut(ofNames: CutChance, ofData: CutChance): string[] {
    const seen = new Set<DiskNode>()
    const report: string[] = []
    const visit = (node: DiskNode, name: string): void => {
      if (seen.has(node)) return
      seen.add(node)
      if (node.kind === 'file') {
        const { unsynced, size } = node
        node.cut(ofData)
        if (unsynced > 0) report.push(`${name}: ${unsynced} unsynced sectors, ${size} bytes are ${node.size}`)
        return
      }
      const lost = node.cut(ofNames)
      if (lost.length > 0) report.push(`${name === '' ? 'names' : name} lost: ${lost.join(' ')}`)
      for (const [child, of] of node.names) visit(of, name === '' ? child : `${name}/${child}`)
    }
    visit(this.#root, '')
    return report
  }

  #parent(path: string, syscall: string): FolderNode {
    if (isRoot(path)) return this.#root
    const parent = this.find(dirname(path), syscall)
    if (parent.kind !== 'folder') throw diskError('ENOTDIR', syscall, path)
    return parent
  }
}

/** The folder above the disk's own is the same: there is nothing else on the machine. */
function isRoot(path: string): boolean {
  return path === diskRoot || path === '/'
}
