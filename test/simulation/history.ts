import type { World } from './world.ts'

/** Facts about one room, from the answers that clients got. */
interface Known {
  /** Everybody who asks from now on must see at least this version. */
  floor: number
  /** The highest version that anybody has tried to write. */
  tried: number
  /** Its internal number, once known. */
  id: number
}

/** A controller that leads. */
export interface Leading {
  name: string
  /** Begin of its process, simulated milliseconds. */
  startedAt: number
}

/** Time that a process may take until it has read the database, in milliseconds. */
const beginning = 5_000

/** A promise of the contract that was broken. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise'
}

/**
 * Record of questions and answers of all clients. Each room has one writer, which writes rising versions: the history is linearizable if no answer is older than what had been
 * answered before it was asked, and none is newer than what was ever written.
 */
export class History {
  readonly #world: World
  readonly #rooms = new Map<string, Known>()
  /** All keys, in the order in which they were first tried. */
  readonly keys: string[] = []
  readonly #leader: () => Leading | undefined
  /** Rooms by their internal numbers, with when somebody was told first, and who led then. */
  readonly #ids = new Map<number, { key: string; at: number; by: string }>()
  /** Acknowledged changes may get lost now: only what must hold even then is checked. */
  #mayLose = false
  /** Keys that were used while changes could get lost. */
  readonly #uncertain = new Set<string>()
  /** Versions of which a writer was told that nothing is stored. */
  readonly #checksRefusals: boolean
  readonly #denied = new Set<string>()
  /** Answers that were checked. */
  answers = 0
  /** The highest version of each room that its writer was told to be stored. */
  readonly acknowledged = new Map<string, number>()

  /**
   * @param leader the controller that leads now
   * @param checksRefusals whether a refusal that says that nothing was stored is held against later answers
   */
  constructor(world: World, leader: () => Leading | undefined, checksRefusals = false) {
    this.#checksRefusals = checksRefusals
    this.#world = world
    this.#leader = leader
  }

  /** Somebody tries to write this version. */
  tries(key: string, version: number): void {
    if (this.#mayLose) this.#uncertain.add(key)
    const known = this.#of(key)
    known.tried = Math.max(known.tried, version)
  }

  /** Lowest version that an answer to a question of now may have. */
  floor(key: string): number {
    return this.#of(key).floor
  }

  /** Somebody was told this version. @param floor when they asked @throws BrokenPromise */
  told(who: string, key: string, { version, id }: { version: number; id: number }, floor: number): void {
    const known = this.#of(key)
    this.answers++
    if (version < floor && !this.#mayLose)
      this.#broken(`${who} was told version ${version} of ${key}; ${floor} had been answered before it asked`)
    if (this.#denied.has(`${key} ${version}`))
      this.#broken(`${who} was told version ${version} of ${key}, of which nothing was stored by an earlier answer`)
    if (version > known.tried) this.#broken(`${who} was told version ${version} of ${key}, which nobody has written`)
    if (!this.#mayLose) known.floor = Math.max(known.floor, version)
    if (id === 0) return
    this.#numbered(key, id)
    if (known.id !== 0 && known.id !== id && !this.mayHaveLost(key))
      this.#broken(`${key} had the number ${known.id}, and has ${id} now`)
    known.id = id
  }

  /** A number is given once. Only where the database has lost it, who leads now may not know it: a controller that was off when it was given. */
  #numbered(key: string, id: number): void {
    const [first, leader] = [this.#ids.get(id), this.#leader()]
    if (first?.key === key) return
    const [at, by] = [this.#world.time, leader?.name ?? '']
    if (first !== undefined) {
      const wasOff = leader !== undefined && by !== first.by && leader.startedAt > first.at - beginning
      if (!this.mayHaveLost(first.key) || !wasOff)
        this.#broken(`the number ${id} was given to ${first.key} and to ${key}`)
    }
    this.#ids.set(id, { key, at, by })
  }

  /** The writer of a room was told that this version is stored. */
  acknowledges(key: string, version: number): void {
    this.acknowledged.set(key, Math.max(version, this.acknowledged.get(key) ?? 0))
  }

  /** Its writer was told that certainly nothing of this version is stored. */
  denies(key: string, version: number): void {
    if (this.#checksRefusals) this.#denied.add(`${key} ${version}`)
  }

  /** The writer asks again: any version may come. */
  allows(key: string): void {
    for (const denied of [...this.#denied]) if (denied.startsWith(`${key} `)) this.#denied.delete(denied)
  }

  isDenied(key: string): boolean {
    return this.#denied.has(`${key} 1`)
  }

  /** Acknowledged changes may be gone from now on. */
  forget(): void {
    this.#mayLose = true
    for (const key of this.keys) this.#uncertain.add(key)
    for (const known of this.#rooms.values()) known.floor = 0
  }

  /** Nothing gets lost from now on: everything that is answered must stay. */
  settle(): void {
    this.#mayLose = false
  }

  /** Whether the database may have lost something of this key: it was used before or while changes could get lost. */
  mayHaveLost(key: string): boolean {
    return this.#uncertain.has(key)
  }

  #of(key: string): Known {
    const known = this.#rooms.get(key)
    if (known !== undefined) return known
    const fresh = { floor: 0, tried: 0, id: 0 }
    this.#rooms.set(key, fresh)
    this.keys.push(key)
    return fresh
  }

  #broken(what: string): never {
    this.#world.note('HISTORY', what)
    throw new BrokenPromise(what)
  }
}
