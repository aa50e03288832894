import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { promisify } from 'node:util'
import { currentMachine } from '../world.ts'
import { type Disk, firstDescriptor } from './disk.ts'
import { flagsOf, promisesOnDisk } from './promises.ts'
import { diskRoot } from './tree.ts'

/*
 * Puts the simulated disk under `node:fs`: a call with a path under `diskRoot`, or a descriptor of the simulated disk, goes to the disk of the machine whose code runs; every other call
 * goes to the real file system. So the file driver and the libraries under it run as they are.
 * Import this before what it serves: some of that takes functions of `node:fs` when it is loaded.
 */

type Call = (...given: unknown[]) => unknown
type Served = (disk: Disk, ...given: never[]) => Promise<unknown>

/** The disk that a call is for; undefined: the real one. A machine's root folder is that of its disk. */
function diskOf(first: unknown): Disk | undefined {
  if (first === '/') return currentMachine()?.disk
  const isOurs =
    typeof first === 'number'
      ? first >= firstDescriptor
      : typeof first === 'string' && (first === diskRoot || first.startsWith(`${diskRoot}/`))
  if (!isOurs) return undefined
  const machine = currentMachine()
  if (machine === undefined) throw new Error(`${String(first)} is on the disk of a simulated machine, and none runs.`)
  return machine.disk
}

/** The functions that take a descriptor or are called by streams, with a callback at the end. */
const callbacksOnDisk = {
  open: (disk: Disk, path: string, flags: string | number = 'r', mode = 0o666) => disk.open(path, flagsOf(flags), mode),
  close: (disk: Disk, fd: number) => disk.close(fd),
  read: async (disk: Disk, fd: number, buffer: Uint8Array, offset: number, length: number, at: number | null) => {
    const bytes = await disk.read(fd, length, at ?? undefined)
    buffer.set(bytes, offset)
    return { bytesRead: bytes.length, buffer }
  },
  write: async (disk: Disk, fd: number, buffer: Uint8Array, offset: number, length: number, at: number | null) => ({
    bytesWritten: await disk.write(fd, buffer.subarray(offset, offset + length), at ?? undefined),
    buffer,
  }),
  fsync: (disk: Disk, fd: number) => disk.sync(fd),
  fdatasync: (disk: Disk, fd: number) => disk.sync(fd),
  ftruncate: (disk: Disk, fd: number, size = 0) => disk.truncate(fd, size),
} as const

function servePromises(): void {
  for (const [name, onDisk] of Object.entries<Served>(promisesOnDisk)) {
    const own = functionOf(fs.promises, name)
    Reflect.set(fs.promises, name, async (...given: unknown[]): Promise<unknown> => {
      const disk = diskOf(given[0])
      const result: unknown =
        disk === undefined ? Reflect.apply(own, fs.promises, given) : Reflect.apply(onDisk, undefined, [disk, ...given])
      return await result
    })
  }
}

function serveCallbacks(): void {
  for (const [name, onDisk] of Object.entries<Served>(callbacksOnDisk)) {
    const own = functionOf(fs, name)
    const ownPromise = promisify<unknown>(own)
    const promised = async (...given: unknown[]): Promise<unknown> => {
      const disk = diskOf(given[0])
      const result: unknown =
        disk === undefined ? Reflect.apply(ownPromise, fs, given) : Reflect.apply(onDisk, undefined, [disk, ...given])
      return await result
    }
    const served = (...given: unknown[]): void => {
      const done = given.at(-1)
      if (typeof done !== 'function' || diskOf(given[0]) === undefined) return void Reflect.apply(own, fs, given)
      promised(...given.slice(0, -1)).then(
        (result) => void Reflect.apply(done, undefined, [null, ...valuesOf(result)]),
        (error: unknown) => void Reflect.apply(done, undefined, [error]),
      )
    }
    Reflect.set(fs, name, Object.assign(served, { [promisify.custom]: promised }))
  }
}

/** Nobody reaches the real file system with a path of the simulated disk: what is not served says so. */
function refuseOthers(): void {
  for (const name of Object.keys(fs.promises)) {
    if (!(name in promisesOnDisk) && isCall(Reflect.get(fs.promises, name))) refuse(fs.promises, name)
    if (!(name in callbacksOnDisk) && isCall(Reflect.get(fs, name))) refuse(fs, name)
    if (isCall(Reflect.get(fs, `${name}Sync`))) refuse(fs, `${name}Sync`)
  }
  refuse(fs, 'existsSync')
}

function refuse(owner: object, name: string): void {
  const own = functionOf(owner, name)
  const refusing: Call = (...given) => {
    if (diskOf(given[0]) !== undefined) throw new Error(`The simulated disk does not serve fs.${name}.`)
    return Reflect.apply(own, owner, given)
  }
  Reflect.set(owner, name, Object.assign(refusing, own))
}

function functionOf(owner: object, name: string): Call {
  const found: unknown = Reflect.get(owner, name)
  if (!isCall(found)) throw new Error(`There is no fs.${name}.`)
  return found
}

function isCall(value: unknown): value is Call {
  return typeof value === 'function'
}

/** Node's callbacks get the parts of a result one after the other. */
function valuesOf(result: unknown): unknown[] {
  return typeof result === 'object' && result !== null ? Object.values(result) : [result]
}

servePromises()
serveCallbacks()
refuseOthers()
syncBuiltinESMExports()
