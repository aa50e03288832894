import { constants } from 'node:fs'
import type { Machine } from '../machine.ts'
import type { World } from '../world.ts'
import { diskError } from './disk-error.ts'
import type { CutChance } from './file-node.ts'
import type { DiskNode } from './folder-node.ts'
import { diskRoot, Tree } from './tree.ts'

/** Descriptors of the simulated disk begin here: the process has none of its own so high. */
export const firstDescriptor = 1_000_000

/** A system call that is under way. */
interface Call<T> {
  /** For the trace; empty: it changes nothing. */
  text: string
  /** Takes effect in the kernel. */
  begin: () => T
  /** It waits for the disk itself; `settle` runs when that is done. */
  settle?: (begun: T) => void
}

interface OpenFile {
  readonly node: DiskNode
  readonly path: string
  readonly flags: number
  position: number
}

/** Usual times of a call and of a sync, in milliseconds. */
const callMs = 0.05
const syncMs = 1.5

/** The disk of a machine behind its kernel: system calls take time and fail, a killed process loses nothing that a call has taken, a power cut loses what was not synced. */
export class Disk {
  readonly #world: World
  readonly #machine: Machine
  readonly #tree = new Tree()
  readonly #open = new Map<number, OpenFile>()
  readonly #waiting = new Set<() => void>()
  #descriptors = firstDescriptor
  #cuts = 0
  /** It has no room for more. */
  isFull = false
  /** Chance of a sync to fail with EIO. */
  syncFails = 0
  /** Calls take so many times longer. */
  slowness = 1
  #cutAt: { calls: number; run: () => void } | undefined

  constructor(world: World, machine: Machine) {
    this.#world = world
    this.#machine = machine
  }

  /** Runs something, such as a power cut, in the middle of a later call that changes the disk. */
  afterCalls(calls: number, run: () => void): void {
    this.#cutAt = { calls, run }
  }

  /** Takes back what `afterCalls` has planned. */
  forgetCut(): void {
    this.#cutAt = undefined
  }

  /** The process has ended: of the calls under way some had reached the kernel. */
  processEnded(): void {
    for (const begin of [...this.#waiting]) if (this.#world.chance(0.5)) begin()
    this.#waiting.clear()
    this.#open.clear()
    this.#cutAt = undefined
  }

  /** The power is cut: what was not synced is there, or partly, or not. */
  cut(): void {
    this.#cuts++
    this.#waiting.clear()
    this.#open.clear()
    const [names, data] = [this.#cutChance(), this.#cutChance()]
    for (const line of this.#tree.cut(names, data)) this.#world.note(this.#machine.name, `  ${line}`)
  }

  async open(path: string, flags: number, mode: number): Promise<number> {
    const makes = (flags & constants.O_CREAT) !== 0
    return await this.#call({
      text: makes ? `open ${short(path)}` : '',
      begin: () => {
        if (makes && this.#tree.maybe(path) === undefined) this.#needRoom('open', path)
        const node = this.#tree.open(path, flags, mode)
        const descriptor = this.#descriptors++
        this.#open.set(descriptor, { node, path, flags, position: 0 })
        return descriptor
      },
    })
  }

  async close(descriptor: number): Promise<void> {
    await this.#call({
      text: '',
      begin: () => {
        this.#file(descriptor, 'close')
        this.#open.delete(descriptor)
      },
    })
  }

  /** @param at undefined: where the last call has ended */
  async read(descriptor: number, length: number, at: number | undefined): Promise<Buffer> {
    return await this.#call({
      text: '',
      begin: () => {
        const file = this.#file(descriptor, 'read')
        if (file.node.kind === 'folder') throw diskError('EISDIR', 'read', file.path)
        const bytes = file.node.read(at ?? file.position, length)
        if (at === undefined) file.position += bytes.length
        return bytes
      },
    })
  }

  /** @returns how many of the bytes it took */
  async write(descriptor: number, given: Uint8Array, at: number | undefined): Promise<number> {
    const { path } = this.#file(descriptor, 'write')
    // The caller may use its buffer again only afterwards; a call that outlives its process has a copy.
    const bytes = Buffer.from(given)
    const begin = () => {
      const file = this.#file(descriptor, 'write')
      const { node } = file
      if (node.kind === 'folder') throw diskError('EISDIR', 'write', path)
      const from = (file.flags & constants.O_APPEND) !== 0 ? node.size : (at ?? file.position)
      const taken = this.#roomFor(bytes.length, node.allocated - from)
      if (taken === 0 && bytes.length > 0) throw diskError('ENOSPC', 'write', path)
      node.write(bytes.subarray(0, taken), from)
      if (at === undefined) file.position = from + taken
      const waits = (file.flags & constants.O_DSYNC) === constants.O_DSYNC
      return { node, from, taken, stamp: node.stamp, waits }
    }
    const text = `write ${short(path)} ${bytes.length} at ${at ?? 'end'}`
    const { taken } = await this.#call({
      text,
      begin,
      settle: ({ node, from, taken, stamp, waits }) => {
        if (!waits) return
        if (this.#failsNow(path, 'write')) {
          node.lose(stamp, this.#chance(0.5), this.#world.chance(0.5), from, from + taken)
          throw diskError('EIO', 'write', path)
        }
        node.persist(stamp, from, from + taken)
      },
    })
    return taken
  }

  async truncate(descriptor: number, size: number): Promise<void> {
    const { node, path } = this.#file(descriptor, 'ftruncate')
    await this.#call({
      text: `truncate ${short(path)} to ${size}`,
      begin: () => (node.kind === 'file' ? node.truncate(size) : undefined),
    })
  }

  async sync(descriptor: number): Promise<void> {
    const { node, path } = this.#file(descriptor, 'fsync')
    await this.#call({
      text: `sync ${short(path)}`,
      begin: () => node.stamp,
      settle: (stamp) => {
        if (!this.#failsNow(path, 'sync')) return node.persist(stamp)
        if (node.kind === 'file') node.lose(stamp, this.#chance(0.5), this.#world.chance(0.5))
        throw diskError('EIO', 'fsync', path)
      },
    })
  }

  async stat(path: string): Promise<{ node: DiskNode; size: number }> {
    return await this.#call({ text: '', begin: () => facts(this.#tree.find(path, 'stat')) })
  }

  async statOpen(descriptor: number): Promise<{ node: DiskNode; size: number }> {
    return await this.#call({ text: '', begin: () => facts(this.#file(descriptor, 'fstat').node) })
  }

  async setMode(path: string, mode: number): Promise<void> {
    await this.#call({ text: '', begin: () => void (this.#tree.find(path, 'chmod').mode = mode) })
  }

  async list(path: string): Promise<[name: string, node: DiskNode][]> {
    const begin = (): [string, DiskNode][] => {
      const node = this.#tree.find(path, 'scandir')
      if (node.kind === 'file') throw diskError('ENOTDIR', 'scandir', path)
      return [...node.names]
    }
    return await this.#call({ text: '', begin })
  }

  async makeFolder(path: string, mode: number): Promise<void> {
    const begin = (): void => {
      this.#needRoom('mkdir', path)
      this.#tree.makeFolder(path, mode)
    }
    await this.#call({ text: `mkdir ${short(path)}`, begin })
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#call({ text: `rename ${short(from)} to ${short(to)}`, begin: () => this.#tree.rename(from, to) })
  }

  async link(from: string, to: string): Promise<void> {
    const begin = (): void => {
      this.#needRoom('link', to)
      this.#tree.link(from, to)
    }
    await this.#call({ text: `link ${short(from)} as ${short(to)}`, begin })
  }

  async remove(path: string): Promise<void> {
    await this.#call({ text: `remove ${short(path)}`, begin: () => this.#tree.remove(path) })
  }

  #file(descriptor: number, syscall: string): OpenFile {
    const file = this.#open.get(descriptor)
    if (file === undefined) throw diskError('EBADF', syscall, String(descriptor))
    return file
  }

  /** The call reaches the kernel, the disk where it waits for that, and its process, unless that has ended. */
  #call<T>({ text, begin, settle }: Call<T>): Promise<T> {
    const [world, machine, cuts] = [this.#world, this.#machine, this.#cuts]
    const { life } = machine
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const answer = (run: () => void): void => {
      if (machine.life !== life) return
      world.plan(callMs * world.random(), run, machine)
    }
    const settled = (begun: T): void => {
      if (this.#cuts !== cuts) return
      try {
        settle?.(begun)
        answer(() => resolve(begun))
      } catch (error) {
        answer(() => reject(error))
      }
    }
    const reach = (): void => {
      if (!this.#waiting.delete(reach)) return
      if (text !== '') world.note(machine.name, `disk: ${text}`)
      try {
        const begun = begin()
        if (settle === undefined) settled(begun)
        else world.plan(syncMs * this.slowness * world.random(), () => settled(begun))
      } catch (error) {
        answer(() => reject(error))
      }
      if (text !== '') this.#count()
    }
    this.#waiting.add(reach)
    world.plan(callMs * this.slowness * world.random(), reach)
    return promise
  }

  #count(): void {
    const due = this.#cutAt
    if (due === undefined || --due.calls > 0) return
    this.#cutAt = undefined
    // Something may still happen to the call: it is on its way to the disk.
    this.#world.plan(this.#world.random() * syncMs, due.run)
  }

  /** @returns how many of the bytes find room */
  #roomFor(length: number, allocated: number): number {
    if (!this.isFull || length <= allocated) return length
    return Math.max(0, allocated) + this.#world.between(0, Math.floor((length - Math.max(0, allocated)) / 2))
  }

  #needRoom(syscall: string, path: string): void {
    // The block of a folder may have room for another name.
    if (this.isFull && this.#world.chance(0.5)) throw diskError('ENOSPC', syscall, path)
  }

  #failsNow(path: string, what: string): boolean {
    if (this.syncFails === 0 || !this.#world.chance(this.syncFails)) return false
    this.#world.note(this.#machine.name, `disk: ${what} of ${short(path)} fails`)
    return true
  }

  #cutChance(): CutChance {
    return this.#chance(this.#world.pick([0, 1, 0.5, 0.9, 0.1, this.#world.random()]))
  }

  #chance(kept: number): CutChance {
    const world = this.#world
    return { isKept: () => world.chance(kept), between: (from, to) => world.between(from, to) }
  }
}

function facts(node: DiskNode): { node: DiskNode; size: number } {
  return { node, size: node.kind === 'file' ? node.size : 4_096 }
}

function short(path: string): string {
  return path.slice(diskRoot.length + 1)
}
