import { electionTimes } from '../../../server/store/election/timings.ts'
import type { Extra } from '../extras.ts'
import { BrokenPromise, type History } from '../history.ts'
import type { SimulatedController, SimulatedSite } from '../site/controller.ts'
import { recordedUser } from './leader-duties.ts'

/** Between two looks at all recorders, in milliseconds. */
const lookMs = 250
/** Maximum time for which two controllers may record the same stream, in milliseconds: until the lease of the former leader has expired. */
const bothMs = electionTimes.lease + electionTimes.margin + 2 * lookMs

/** Watches what the recorders of all controllers record. */
export class RecordingWatch {
  readonly #site: SimulatedSite
  readonly #history: History
  /** Since when each pair of controllers records the same stream. By pairs: with two changes of the leader within a lease, two former leaders may record in turn. */
  readonly #both = new Map<string, number>()
  readonly #extras: ReadonlySet<Extra>
  #isOver = false

  constructor(site: SimulatedSite, history: History, extras: ReadonlySet<Extra>) {
    this.#extras = extras
    this.#site = site
    this.#history = history
  }

  start(): void {
    if (!this.#extras.has('one recorder')) return
    const { world } = this.#site
    const look = (): void => {
      if (this.#isOver) return
      try {
        this.#expectOne()
      } catch (error) {
        world.fail(error)
      }
      world.plan(lookMs, look)
    }
    look()
  }

  stop(): void {
    this.#isOver = true
  }

  #expectOne(): void {
    const { world, controllers } = this.#site
    const pairs = new Set<string>()
    for (const [index, one] of controllers.entries()) {
      for (const other of controllers.slice(index + 1)) {
        const theirs = new Set(other.recorder.recorded)
        for (const stream of one.recorder.recorded) {
          if (!theirs.has(stream)) continue
          const pair = `${one.name} and ${other.name} have recorded ${stream}`
          pairs.add(pair)
          const since = this.#both.get(pair) ?? world.time
          this.#both.set(pair, since)
          if (world.time - since > bothMs) this.#broken(`${pair} for ${Math.round(world.time - since)} ms`)
        }
      }
    }
    for (const pair of this.#both.keys()) if (!pairs.has(pair)) this.#both.delete(pair)
  }

  /** Some time after the last change: what is recorded is what is stored. @throws BrokenPromise */
  check(): void {
    const { controllers } = this.#site
    const leader = controllers.find(({ leads }) => leads)
    if (leader === undefined) return
    if (this.#extras.has('recordings')) this.#expectAsStored(leader)
    for (const media of ['recordings', 'lives'] as const)
      for (const { tag } of leader.all(media))
        if (this.#history.isDenied(tag))
          this.#broken(`the order ${tag} is stored, and its client was told that nothing was changed`)
  }

  #expectAsStored(leader: SimulatedController): void {
    const wanted = wantedOf(leader)
    for (const controller of this.#site.controllers) {
      const found = new Set(controller.recorder.recorded)
      const due = controller === leader ? wanted : new Set<string>()
      const missing = [...due].find((stream) => !found.has(stream))
      const tooMuch = [...found].find((stream) => !due.has(stream))
      if (missing !== undefined) this.#broken(`${missing} is ordered to be recorded, and ${controller.name} does not`)
      if (tooMuch !== undefined) this.#broken(`${controller.name} records ${tooMuch}, which nothing stored orders`)
    }
  }

  #broken(what: string): never {
    this.#site.world.note('HISTORY', what)
    throw new BrokenPromise(what)
  }
}

/** What is to be recorded by what a controller has in memory. */
function wantedOf(leader: SimulatedController): Set<string> {
  const recordings = leader.all('recordings').filter(({ state }) => state === 'recording')
  const lives = leader.all('lives').filter(({ state }) => state === 'living')
  const rooms = [...recordings, ...leader.all('recording_wishes')]
  return new Set([...rooms.map(({ room_id }) => room_id), ...lives.map(({ room_id }) => `${room_id}/${recordedUser}`)])
}
