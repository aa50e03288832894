import type { History } from '../history.ts'
import { Machine } from '../machine.ts'
import { callOf } from '../site/call.ts'
import type { ServingController, ServingSite } from '../site/client.ts'
import type { Operation, Reply } from '../site/operation.ts'
import { type MediaKind, stages } from './media-operation.ts'

/** What the client has ordered last. */
interface Order {
  media: MediaKind
  id: string
  token: string
  /** How far the client has asked it to be. */
  asked: number
}

/** Longest pause between two calls, in milliseconds. */
const pauseMs = 700

/** Somebody who orders recordings and live streams in a room of its own, looks at them, stops and removes them, at any controller. */
export class MediaClient {
  readonly #site: ServingSite
  readonly #history: History
  readonly #machine: Machine
  readonly #room: string
  readonly #seesPages: boolean
  #hasRoom = false
  #order: Order | undefined
  #orders = 0
  #isOver = false

  /** @param history of recordings and live streams, each with its stage as version @param seesPages it opens the pages of live streams, too */
  constructor(site: ServingSite, history: History, name: string, seesPages: boolean) {
    this.#seesPages = seesPages
    this.#site = site
    this.#history = history
    this.#machine = new Machine(site.world, name)
    this.#room = `room-of-${name}`
  }

  start(): void {
    this.#site.world.plan(0, () => void this.#run().catch(this.#site.world.fail), this.#machine)
  }

  stop(): void {
    this.#isOver = true
  }

  async #run(): Promise<void> {
    const { world } = this.#site
    while (!this.#isOver) {
      await world.wait(world.random() * pauseMs)
      const at = world.pick(this.#site.controllers)
      if (!this.#hasRoom) await this.#makeRoom(at)
      else if (world.chance(0.15)) await this.#ask(at, { kind: world.pick(['press', 'release']), key: this.#room })
      else if (this.#order === undefined) await this.#begin(at)
      else await this.#goOn(at, this.#order)
    }
  }

  async #makeRoom(at: ServingController): Promise<void> {
    const reply = await this.#ask(at, { kind: 'create', key: this.#room })
    this.#hasRoom = reply?.kind === 'done' && reply.version > 0
  }

  async #begin(at: ServingController): Promise<void> {
    const media = this.#site.world.pick(['recordings', 'lives'] as const)
    const tag = `${this.#machine.name}-${++this.#orders}`
    const reply = await this.#ask(at, { kind: 'order', media, key: this.#room, tag })
    if (reply?.kind === 'refused' && reply.isCertain === true) this.#history.denies(tag, stages.ordered)
    // The room is gone with the state of the database.
    if (reply?.kind === 'refused' && reply.why.includes('no such room')) this.#hasRoom = false
    if (reply?.kind !== 'done' || reply.order === undefined) return
    this.#order = { ...reply.order, media, asked: stages.ordered }
    this.#told(this.#order, stages.ordered, 0)
  }

  async #goOn(at: ServingController, order: Order): Promise<void> {
    const { world } = this.#site
    const does = world.pick(['look', 'look', 'page', 'page', 'stop', 'remove'] as const)
    const key = keyOf(order)
    const floor = this.#history.floor(key)
    if (does === 'page') {
      if (order.media !== 'lives' || !this.#seesPages) return
      const reply = await this.#ask(at, { kind: 'page', key: order.id, token: order.token })
      // To the page, a removed stream has ended.
      if (reply?.kind === 'done') this.#told(order, reply.version, Math.min(floor, stages.ended))
      return
    }
    const wanted = does === 'look' ? 0 : does === 'stop' ? stages.ended : stages.removed
    // A refusal says something about this call alone, unless an earlier one is open.
    const isFirst = order.asked < wanted
    order.asked = Math.max(order.asked, wanted)
    const reply = await this.#ask(at, { kind: does, media: order.media, key: order.id })
    if (reply?.kind === 'done') {
      this.#told(order, reply.version, floor)
      // Most clients do not remove what has ended.
      if (reply.version === stages.removed || (reply.version === stages.ended && world.chance(0.4)))
        this.#order = undefined
    } else if (reply?.kind === 'refused' && reply.isCertain === true && isFirst) {
      this.#history.denies(key, wanted)
      // Whether it is true is seen as long as nobody asks again.
      for (let looks = 0; looks < 3; looks++) await this.#look(order)
      this.#history.allows(key)
    }
  }

  async #look(order: Order): Promise<void> {
    const { world } = this.#site
    await world.wait(pauseMs)
    const floor = this.#history.floor(keyOf(order))
    const reply = await this.#ask(world.pick(this.#site.controllers), {
      ...{ kind: 'look', media: order.media, key: order.id },
    })
    if (reply?.kind === 'done') this.#told(order, reply.version, floor)
  }

  #told(order: Order, version: number, floor: number): void {
    const key = keyOf(order)
    this.#history.tries(key, stages.removed)
    // An order that the database has lost is answered like one that was removed.
    if (version === stages.removed && this.#history.mayHaveLost(key)) this.#history.allows(key)
    this.#history.told(this.#machine.name, key, { version, id: 0 }, floor)
  }

  #ask(at: ServingController, operation: Operation): Promise<Reply | undefined> {
    return callOf(this.#site, this.#machine, at, operation)
  }
}

function keyOf({ media, id }: Order): string {
  return `${media}/${id}`
}
