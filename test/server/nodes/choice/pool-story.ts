import { expect } from 'vitest'
import { RoomIndex } from '../../../../server/nodes/pool/state/room-nodes.ts'
import { Presence } from '../../../../server/nodes/pool/state/presence.ts'
import type { SimulatedNode } from '../../../../server/nodes/simulated/simulated-node.ts'
import type { StoredNode, StoredRoom } from '../../../../server/store/records.ts'
import { seededRandom } from '../../../../shared/seeded-random.ts'
import { storedRoom } from '../../../support/stored-records.ts'
import { type PoolSite, poolSite } from '../../../support/sites/pool-site.ts'

/** Fault of a node; undefined: none. */
type Trouble = 'dead' | 'hangs' | 'drains' | 'disabled'

const working = { mode: 'none', delayMs: 0 } as const
const broken = { dead: { mode: 'offline', delayMs: 0 }, hangs: { mode: 'silent', delayMs: 0 } } as const
const weights = [1, 2, 4] as const
const peopleAtMost = 5
/** Maximum interval between bursts, in milliseconds. */
const burstMs = 5_000
/** Store reads that a choice makes. */
const reads = [
  [Presence.prototype, 'usersOn'],
  [RoomIndex.prototype, 'load'],
] as const

/** Size of a story. */
export interface StorySize {
  seed: number
  nodes: number
  rooms: number
  /** Number of faults and repairs. */
  rounds: number
}

/** Measurements of a story. */
export interface StoryFigures {
  /** Maximum over the story, see `imbalance`. */
  imbalance: number
  /** Steps for a new room at the start and at the end, see `stepsOf`. */
  steps: [first: number, last: number]
}

/**
 * A site with many nodes and rooms whose clients behave as usual: get the MCU, join there, and rejoin after a disconnect. The story advances the time;
 * the store, the pool and its loops are the real ones.
 */
export class PoolStory {
  readonly #site: PoolSite
  readonly #random: () => number
  readonly #clock: { now: number }
  /** Number of users of each room in use. */
  readonly #people = new Map<string, number>()
  readonly #trouble = new Map<string, Trouble>()
  #made = 0

  private constructor(site: PoolSite, random: () => number, clock: { now: number }) {
    this.#site = site
    this.#random = random
    this.#clock = clock
  }

  static async begin({ seed, nodes, rooms }: Omit<StorySize, 'rounds'>): Promise<PoolStory> {
    const random = seededRandom(seed)
    const clock = { now: 0 }
    const records = Array.from({ length: nodes }, (_, number): [string, Partial<StoredNode>] => [
      `n${number}`,
      { weight: weights[Math.floor(random() * weights.length)] ?? 1 },
    ])
    const site = await poolSite({
      nodes: Object.fromEntries(records),
      deadlines: { node_ms: 1_000, health_ms: 100, health_interval_ms: 1_000 },
      now: () => clock.now,
    })
    const story = new PoolStory(site, random, clock)
    await story.#make(rooms)
    return story
  }

  get #roomIds(): string[] {
    return [...this.#site.store.all('rooms').keys()]
  }

  /** Advances the pool's clock by minutes. */
  pass(minutes: number): void {
    this.#clock.now += minutes * 60_000
  }

  /** Requests unassigned rooms in bursts, and lets users join at their node. */
  async use(count: number, burst: number): Promise<void> {
    const unused = this.#roomIds.filter((roomId) => !this.#people.has(roomId)).slice(0, count)
    while (unused.length > 0) {
      const asked = unused.splice(0, burst)
      this.#clock.now += burstMs
      for (const roomId of asked) this.#people.set(roomId, Math.floor(this.#random() * (peopleAtMost + 1)))
      await Promise.all(asked.map((roomId) => this.#enter(roomId)))
    }
  }

  /** Ends this share of the meetings, and starts as many new ones. */
  async turnOver(part: number): Promise<void> {
    const over = [...this.#people.keys()].filter(() => this.#random() < part)
    for (const roomId of over) this.#people.delete(roomId)
    const { store } = this.#site
    await store.transact([], (change) => {
      for (const roomId of over) change.delete('rooms', roomId)
    })
    await this.#make(over.length)
  }

  /** Applies a fault to this many healthy nodes. */
  async harm(trouble: Trouble, count: number): Promise<string[]> {
    const well = [...this.#site.store.all('nodes').keys()].filter((name) => !this.#trouble.has(name))
    const chosen = Array.from(
      { length: count },
      () => well.splice(Math.floor(this.#random() * well.length), 1)[0] ?? '',
    )
    for (const name of chosen) {
      this.#trouble.set(name, trouble)
      if (trouble === 'drains') await this.#site.pool.drainer.set(name, true)
      else if (trouble === 'disabled') await this.#change(name, { enabled: false })
      else this.#site.node(name).setFault(broken[trouble])
    }
    return chosen
  }

  /** Repairs all faults. */
  async mend(): Promise<void> {
    for (const [name, trouble] of this.#trouble) {
      if (trouble === 'drains') await this.#site.pool.drainer.set(name, false)
      else if (trouble === 'disabled') await this.#change(name, { enabled: true })
      else this.#site.node(name).setFault(working)
    }
    this.#trouble.clear()
    await expect.poll(() => this.#site.pool.nodes.views().every(({ state }) => state === 'online')).toBe(true)
  }

  /** Waits until every room with users has moved to a healthy node; then its users rejoin. */
  async comeAgain(): Promise<void> {
    const lost = (): string[] =>
      [...this.#people].flatMap(([roomId, people]) =>
        people > 0 && this.#isAway(this.#nodeOf(roomId)) ? [roomId] : [],
      )
    await expect.poll(() => lost().length).toBe(0)
    await Promise.all([...this.#people.keys()].map((roomId) => this.#enter(roomId)))
  }

  /** Removes all users from the rooms of a node. */
  leave(name: string): void {
    const { pool } = this.#site
    for (const [roomId, people] of this.#people) {
      if (people === 0 || this.#nodeOf(roomId) !== name) continue
      this.#people.set(roomId, 0)
      for (const { userId } of pool.presence.usersOf(roomId)) this.#node(name).leavePerson(roomId, userId)
    }
  }

  /** Requests every room in use: each answer is a healthy node with the room open. */
  async askAll(): Promise<void> {
    const { pool } = this.#site
    const answers = await Promise.all([...this.#people.keys()].map((roomId) => pool.callerNodes.nodeFor(roomId)))
    expect(answers.filter((name) => this.#isAway(name))).toEqual([])
  }

  roomsOn(name: string): number {
    return this.#site.pool.nodes.views().find(({ config }) => config.name === name)?.rooms ?? 0
  }

  /** Maximum deviation of a node from its weighted share of all users: 0.1 is ten per cent. */
  imbalance(): number {
    const nodes = this.#site.pool.nodes.views().filter(({ config }) => !this.#trouble.has(config.name))
    const users = nodes.reduce((sum, node) => sum + node.users, 0)
    const weight = nodes.reduce((sum, { config }) => sum + config.weight, 0)
    return Math.max(...nodes.map((node) => Math.abs((node.users / node.config.weight / users) * weight - 1)))
  }

  /** Reads of the store and steps of the choice per room while this many new rooms are assigned. */
  async stepsOf(rooms: number): Promise<number> {
    const counted: readonly (readonly [object, string])[] = [...reads, [this.#site.store, 'get']]
    let steps = 0
    const restore = counted.map(([owner, name]) => {
      const before = Object.getOwnPropertyDescriptor(owner, name)
      const run: unknown = Reflect.get(owner, name)
      if (typeof run !== 'function') throw new Error(`${name} is no function`)
      Object.defineProperty(owner, name, {
        configurable: true,
        value(this: unknown, ...args: unknown[]): unknown {
          steps += 1
          return Reflect.apply(run, this, args)
        },
      })
      return () => {
        if (before === undefined) Reflect.deleteProperty(owner, name)
        else Object.defineProperty(owner, name, before)
      }
    })
    const unused = this.#roomIds.filter((roomId) => !this.#people.has(roomId)).slice(0, rooms)
    for (const roomId of unused) {
      this.#people.set(roomId, 0)
      await this.#site.pool.callerNodes.nodeFor(roomId)
    }
    for (const each of restore) each()
    return steps / rooms
  }

  async #make(count: number): Promise<void> {
    const { store } = this.#site
    await store.transact([], (change) => {
      for (let n = 0; n < count; n++) {
        const id = ++this.#made
        const room: StoredRoom = storedRoom(`r${id}`, { id })
        change.put('rooms', room.room_id, room)
      }
    })
  }

  /** Users request their room's node, and join there. */
  async #enter(roomId: string): Promise<void> {
    const { pool } = this.#site
    const name = await pool.callerNodes.nodeFor(roomId)
    expect(this.#isAway(name)).toBe(false)
    const people = this.#people.get(roomId) ?? 0
    for (let n = pool.presence.count(roomId); n < people; n++) {
      this.#node(name).joinPerson(roomId, { userId: `p${n}`, userName: 'Ann' })
    }
  }

  #isAway(name: string): boolean {
    const trouble = this.#trouble.get(name)
    return name === '' || (trouble !== undefined && trouble !== 'drains')
  }

  #nodeOf(roomId: string): string {
    return this.#site.store.get('rooms', roomId)?.node ?? ''
  }

  #node(name: string): SimulatedNode {
    return this.#site.node(name)
  }

  async #change(name: string, fields: Partial<StoredNode>): Promise<void> {
    const { store } = this.#site
    await store.transact([`nodes/${name}`], (change) => {
      const node = store.get('nodes', name)
      if (node !== undefined) change.put('nodes', name, { ...node, ...fields })
    })
  }
}

/**
 * Nodes die, hang, drain, leave and return, while rooms are created, used and ended: load stays even by weight, nobody is sent to a dead node, draining nodes
 * become empty, and a new room costs as much at the end as at the start.
 */
export async function tellPoolStory(size: StorySize): Promise<StoryFigures> {
  const { nodes, rooms, rounds } = size
  const part = (share: number): number => Math.ceil(rooms * share)
  const few = (share: number): number => Math.ceil(nodes * share)
  const burst = part(1 / 80)
  const story = await PoolStory.begin(size)
  const atFirst = await story.stepsOf(50)
  expect(atFirst).toBeLessThan(nodes * 6)
  let worst = 0
  const isEven = (): void => {
    worst = Math.max(worst, story.imbalance())
    expect(worst).toBeLessThan(0.1)
  }
  await story.use(part(0.8), burst)
  isEven()

  for (let round = 0; round < rounds; round++) {
    await story.harm('dead', few(0.03))
    await story.harm('hangs', few(0.015))
    await story.harm('disabled', few(0.015))
    const draining = await story.harm('drains', few(0.02))
    await story.comeAgain()
    await story.use(part(0.02), burst)
    await story.askAll()
    isEven()
    for (const name of draining) story.leave(name)
    await expect.poll(() => draining.map((name) => story.roomsOn(name))).toEqual(draining.map(() => 0))
    // Rooms do not move back; as meetings end and begin, returned nodes get their share again.
    await story.mend()
    story.pass(20)
    await story.turnOver(0.3)
    await story.use(part(0.25), burst)
    isEven()
  }
  const atLast = await story.stepsOf(50)
  expect(atLast).toBeLessThan(atFirst * 1.05)
  return { imbalance: worst, steps: [atFirst, atLast] }
}
