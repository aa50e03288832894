import type { History } from '../history.ts'
import { Machine } from '../machine.ts'
import type { Network } from '../network.ts'
import type { World } from '../world.ts'
import { callOf } from './call.ts'
import type { Operation, Reply } from './operation.ts'

/** A controller, as its clients reach it. */
export interface ServingController {
  readonly name: string
  readonly machine: Machine
  serve(operation: Operation): Promise<Reply>
}

/** A site, as its clients reach it. */
export interface ServingSite {
  readonly world: World
  readonly network: Network
  readonly controllers: readonly ServingController[]
  /** Time that a client waits for an answer, in milliseconds. */
  readonly patienceMs: number
}

/** Somebody who creates rooms, changes its own and reads everybody's, at any controller. */
export class SimulatedClient {
  readonly #site: ServingSite
  readonly #history: History
  readonly #machine: Machine
  #own: { key: string; version: number } | undefined
  #rooms = 0
  #isOver = false
  /** Longest pause between two calls, in milliseconds. */
  readonly #pauseMs: number
  /** Changes that were acknowledged. */
  acknowledged = 0

  constructor(site: ServingSite, history: History, name: string, pauseMs: number) {
    this.#pauseMs = pauseMs
    this.#site = site
    this.#history = history
    this.#machine = new Machine(site.world, name)
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
      await world.wait(world.random() * this.#pauseMs)
      const at = world.pick(this.#site.controllers)
      if (world.chance(0.4)) await this.change(at)
      else if (this.#history.keys.length > 0) await this.read(at, world.pick(this.#history.keys.slice(-20)))
    }
  }

  /** Makes a room, or changes the one that it made last. @returns whether it was acknowledged */
  async change(at: ServingController): Promise<boolean> {
    const { world } = this.#site
    if (this.#own === undefined || world.chance(0.1)) {
      this.#rooms++
      this.#own = { key: `${this.#machine.name}-${this.#rooms}`, version: 1 }
      return await this.#change(at, { kind: 'create', key: this.#own.key }, 1)
    }
    this.#own.version++
    const { key, version } = this.#own
    return await this.#change(at, { kind: 'write', key, version }, version)
  }

  async #change(at: ServingController, operation: Operation, version: number): Promise<boolean> {
    const { key } = operation
    this.#history.tries(key, version)
    const floor = this.#history.floor(key)
    const reply = await callOf(this.#site, this.#machine, at, operation)
    if (reply?.kind === 'done') {
      this.#history.told(this.#machine.name, key, reply, floor)
      if (reply.version >= version) {
        this.acknowledged++
        this.#history.acknowledges(key, version)
      }
      // A room that was never made, because its creation was refused, is not changed.
      if (reply.version === 0) this.#own = undefined
      return reply.version >= version
    }
    if (reply?.kind === 'refused' && reply.isCertain === true) this.#history.denies(key, version)
    // Whether it was made is not known: the next one is another room.
    if (operation.kind === 'create') this.#own = undefined
    return false
  }

  async read(at: ServingController, key: string): Promise<boolean> {
    const floor = this.#history.floor(key)
    const reply = await callOf(this.#site, this.#machine, at, { kind: 'read', key })
    if (reply?.kind !== 'done') return false
    this.#history.told(this.#machine.name, key, reply, floor)
    return true
  }
}
