import type { ExclusiveLock, Processes } from '../../server/store/system/processes.ts'
import type { DatabaseClient, SmallFiles, System, Timer } from '../../server/store/system/system.ts'
import { Disk } from './disk/disk.ts'
import type { Happening, World } from './world.ts'

/** Wall clock of every machine at the beginning: a fixed moment, so that a seed replays the same trace. */
const beginning = Date.UTC(2026, 0, 1)

/** A machine with one process: its clocks, its chance, its disk. */
export class Machine implements System {
  readonly name: string
  readonly #world: World
  /** Processes that have ended: what they had planned never happens. */
  life = 0
  /** The process runs. */
  isUp = true
  /** The whole machine is switched off. */
  isOff = false
  /** Its disk takes nothing. */
  diskIsFull = false
  /** Why the process does not go on for now: frozen (SIGSTOP), or the whole machine is suspended. */
  stopped: 'frozen' | 'suspended' | undefined
  /** How often it was stopped. */
  pauses = 0
  #stoppedAt = 0
  /** Events that came meanwhile. */
  readonly held: Happening[] = []
  /** How far its wall clock is off, in milliseconds. */
  #clockError = 0
  /** For how long it was suspended altogether, in milliseconds: its monotonic clock stood still. */
  #suspended = 0
  /** Its monotonic clock is as fast as this; 1: right. */
  readonly #pace: number
  files: SmallFiles
  readonly disk: Disk
  readonly processes: Processes
  /** Number of times it was switched on. */
  #boots = 1
  /** Files that the process has locked: the kernel lets them go when it ends. */
  readonly #locked = new Set<string>()
  reach?: (host: string) => Promise<string>
  database?: (connectionString: string, connectMs: number) => DatabaseClient

  constructor(world: World, name: string) {
    this.#world = world
    this.name = name
    // Oscillators differ by some 50 ppm; we allow them ten times as much.
    this.#pace = 1 + (world.random() - 0.5) * 0.001
    this.files = memoryFiles(() => this.diskIsFull)
    this.disk = new Disk(world, this)
    this.processes = {
      own: () => ({ pid: this.#pid, started: String(this.life), boot: `boot ${this.#boots}`, host: name }),
      isAlive: ({ pid, started, boot }) =>
        pid === this.#pid && started === String(this.life) && boot === `boot ${this.#boots}`,
      lock: async (path) => this.#lock(path),
    }
  }

  get isStopped(): boolean {
    return this.stopped !== undefined
  }

  now(): number {
    return Math.floor(beginning + this.#world.time + this.#clockError)
  }

  monotonic(): number {
    return 1 + (this.#world.time - this.#suspended) * this.#pace
  }

  after(milliseconds: number, run: () => void): Timer {
    const planned = this.#world.plan(Math.max(1, milliseconds) / this.#pace, run, this, true)
    return { cancel: () => void (planned.isCancelled = true) }
  }

  soon(run: () => void): void {
    this.#world.plan(0, run, this)
  }

  uuid(): string {
    const hex = Array.from({ length: 32 }, () => this.#world.between(0, 15).toString(16)).join('')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
  }

  /** A random whole number from `from` to `to`. */
  integer(from: number, to: number): number {
    return this.#world.between(from, to)
  }

  /** Somebody sets its clock. */
  stepClock(by: number): void {
    this.#clockError += by
  }

  /** The process stops where it is (SIGSTOP), or the whole machine is suspended. */
  stop(how: 'frozen' | 'suspended'): void {
    if (this.stopped !== undefined) return
    this.stopped = how
    this.pauses++
    this.#stoppedAt = this.#world.time
    if (how === 'suspended') this.#world.asleep.add(this.name)
  }

  /** It goes on: what came meanwhile comes now. */
  resume(): void {
    const how = this.stopped
    if (how === undefined) return
    this.stopped = undefined
    const world = this.#world
    world.asleep.delete(this.name)
    const lasted = world.time - this.#stoppedAt
    if (how === 'suspended') {
      this.#suspended += lasted
      world.delayTimers(this, lasted)
    }
    for (const happening of this.held.splice(0)) {
      if (happening.life !== this.life || happening.isCancelled) continue
      world.planAgain(happening, how === 'suspended' && happening.isTimer ? happening.at + lasted : world.time)
    }
  }

  /** In a container every process has the same one. */
  get #pid(): number {
    return this.life % 2 === 0 ? 1 : 1_000 + this.life
  }

  #lock(path: string): ExclusiveLock {
    if (this.#locked.has(path)) return 'held by another'
    this.#locked.add(path)
    return { release: () => void this.#locked.delete(path) }
  }

  /** Its power is cut. */
  cutPower(): void {
    this.kill(true)
    this.isOff = true
    this.#boots++
    this.disk.cut()
  }

  /** Its process ends at once (SIGKILL). @param isOff with the whole machine */
  kill(isOff = false): void {
    this.life++
    this.#locked.clear()
    if (!isOff) this.disk.processEnded()
    this.isUp = false
    this.stopped = undefined
    this.#world.asleep.delete(this.name)
    this.held.length = 0
  }

  /** Another process begins on it. */
  boot(): void {
    this.isOff = false
    this.isUp = true
  }
}

/** Files that outlive the process. */
function memoryFiles(isFull: () => boolean): SmallFiles {
  const texts = new Map<string, string>()
  return {
    readText: async (path) => {
      const text = texts.get(path)
      if (text === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' })
      return text
    },
    replace: async (path, text) => {
      if (isFull()) throw Object.assign(new Error(`ENOSPC: ${path}`), { code: 'ENOSPC' })
      texts.set(path, text)
    },
    remove: async (path) => void texts.delete(path),
  }
}
