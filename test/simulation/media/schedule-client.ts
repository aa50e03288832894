import { Machine } from '../machine.ts'
import { callOf } from '../site/call.ts'
import type { ServingSite } from '../site/client.ts'

/** Rooms, each with one meeting. */
const rooms = 9
/** Minutes from now on in which meetings begin: one that is under way, and the next two. */
const minutes = 3
const attempts = 8
const betweenMs = 400

/** An operator who makes rooms with a schedule. */
export class ScheduleClient {
  readonly #site: ServingSite
  readonly #machine: Machine
  #isOver = false

  /** @param clockMs how far the clocks of all machines are ahead of the beginning, in milliseconds */
  constructor(site: ServingSite, name: string, clockMs: number) {
    this.#site = site
    this.#machine = new Machine(site.world, name)
    this.#machine.stepClock(clockMs)
  }

  start(): void {
    this.#site.world.plan(0, () => void this.#run().catch(this.#site.world.fail), this.#machine)
  }

  stop(): void {
    this.#isOver = true
  }

  async #run(): Promise<void> {
    const { world, controllers } = this.#site
    for (let room = 1; room <= rooms; room++) {
      const start = new Date(this.#machine.now() + (room % minutes) * 60_000).toISOString().slice(0, 16)
      for (let attempt = 0; attempt < attempts && !this.#isOver; attempt++) {
        await world.wait(world.random() * betweenMs)
        const operation = { kind: 'schedule', key: `meeting-${room}`, start } as const
        const reply = await callOf(this.#site, this.#machine, world.pick(controllers), operation)
        if (reply?.kind === 'done') break
      }
    }
  }
}
