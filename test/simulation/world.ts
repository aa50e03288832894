import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { seededRandom } from '../../shared/seeded-random.ts'
import { replaceSystem } from '../../server/store/system/system.ts'
import type { Machine } from './machine.ts'

/** One thing that happens at a moment of the simulated time. */
export interface Happening {
  /** Milliseconds since the beginning. */
  at: number
  /** Order of planning: it decides between two at one moment. */
  order: number
  /** Machine on which it happens; undefined: outside of all. */
  machine: Machine | undefined
  /** Processes of the machine that had ended when it was planned: it happens in this process only. */
  life: number
  /** It waits for the machine's own clock, which a suspension stops. */
  isTimer: boolean
  isCancelled: boolean
  run: () => void
}

/** Turns of the real event loop after which this process looks at its signals. */
const stepsBetweenTurns = 5_000

const running = new AsyncLocalStorage<Machine>()
replaceSystem(() => running.getStore())

/** Machine of the code that runs now; undefined: it is of none, as the test itself. */
export function currentMachine(): Machine | undefined {
  return running.getStore()
}

/** Simulated time: everything happens one after the other, in an order that the seed alone decides. */
export class World {
  /** True time in milliseconds since the beginning; no machine knows it. */
  time = 0
  readonly random: () => number
  readonly #queue = new EventQueue()
  #orders = 0
  /** Machines that are suspended: what is sent to them gets lost. */
  readonly asleep = new Set<string>()
  /** Happenings until now. */
  steps = 0
  /** Runs something on a machine, in the same context each time: a new one for each step would cost a twentieth of a run. */
  readonly #onMachine = new WeakMap<Machine, (run: () => void) => void>()
  readonly #trace: string[] = []
  readonly #traceLength: number
  #failure: Error | undefined

  /** @param traceLength how many of the last lines of the trace are kept */
  constructor(seed: number, traceLength = 2_000) {
    this.random = seededRandom(seed)
    this.#traceLength = traceLength
  }

  /** Plans something. */
  plan(delay: number, run: () => void, machine?: Machine, isTimer = false): Happening {
    const planned = {
      at: this.time + Math.max(0, delay),
      order: this.#orders++,
      machine,
      life: machine?.life ?? 0,
      isTimer,
      isCancelled: false,
      run,
    }
    this.#queue.add(planned)
    return planned
  }

  /** Plans something again that waited for its machine. */
  planAgain(happening: Happening, at: number): void {
    happening.at = Math.max(at, this.time)
    happening.order = this.#orders++
    this.#queue.add(happening)
  }

  /** Timers of a machine that was suspended are due so much later. */
  delayTimers(machine: Machine, by: number): void {
    this.#queue.change((happening) => {
      if (happening.machine === machine && happening.isTimer) happening.at += by
    })
  }

  /** A whole number from `from` to `to`. */
  between(from: number, to: number): number {
    return from + Math.floor(this.random() * (to - from + 1))
  }

  chance(probability: number): boolean {
    return this.random() < probability
  }

  pick<T>(of: readonly T[]): T {
    const picked = of[Math.floor(this.random() * of.length)]
    if (picked === undefined) throw new RangeError('There is nothing to pick from.')
    return picked
  }

  /** Waits in simulated time, outside of all machines. */
  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.plan(milliseconds, resolve))
  }

  /** Notes something in the trace. */
  note(where: string, what: string): void {
    this.#trace.push(`${(this.time / 1_000).toFixed(4).padStart(12)}  ${where.padEnd(8)} ${what}`)
    if (this.#trace.length > 2 * this.#traceLength) this.#trace.splice(0, this.#traceLength)
  }

  /** The last lines of the trace. */
  get trace(): string {
    return this.#trace.slice(-this.#traceLength).join('\n')
  }

  /** Ends the run with an error. */
  readonly fail = (error: unknown): void => {
    this.#failure ??= error instanceof Error ? error : new Error(String(error))
  }

  /** Lets everything happen until then. @throws what `fail` was called with */
  async run(until: number): Promise<void> {
    while (this.time < until && this.#failure === undefined) {
      await this.#some(until)
      await turn()
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Some steps: between two of them everything runs that a step has resolved. */
  #some(until: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let left = stepsBetweenTurns
    const settled = Promise.resolve()
    const next = (): void => process.nextTick(step)
    const step = (): void => {
      try {
        const first = this.#queue.first
        if (left-- === 0 || this.#failure !== undefined || first === undefined || first.at > until) {
          if (first === undefined || first.at > until) this.time = until
          return resolve()
        }
        this.#queue.take()
        this.#happen(first)
      } catch (error) {
        return reject(error instanceof Error ? error : new Error(String(error)))
      }
      // All microtasks run before the next tick. A promise costs less than queueMicrotask, which begins an asynchronous resource.
      void settled.then(next)
    }
    next()
    return promise
  }

  #happen(happening: Happening): void {
    const { machine, at, life, run, isCancelled } = happening
    this.time = Math.max(this.time, at)
    if (isCancelled) return
    this.steps++
    if (machine === undefined) return run()
    if (machine.life !== life) return
    if (machine.isStopped) return void machine.held.push(happening)
    this.#enter(machine)(run)
  }

  #enter(machine: Machine): (run: () => void) => void {
    const known = this.#onMachine.get(machine)
    if (known !== undefined) return known
    const enter = running.run(machine, () => AsyncLocalStorage.snapshot())
    this.#onMachine.set(machine, enter)
    return enter
  }
}

/** A binary heap of what is planned. */
class EventQueue {
  readonly #heap: Happening[] = []
  /** Length at which cancelled happenings are removed: most timers are cancelled long before they are due. */
  #full = 256

  get size(): number {
    return this.#heap.length
  }

  get first(): Happening | undefined {
    return this.#heap[0]
  }

  add(happening: Happening): void {
    if (this.#heap.length >= this.#full) this.#clear()
    this.#put(happening)
  }

  #put(happening: Happening): void {
    const heap = this.#heap
    heap.push(happening)
    let at = heap.length - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(happening, heap[parent])) break
      this.#set(at, heap[parent])
      at = parent
    }
    heap[at] = happening
  }

  take(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1], heap[child])) child++
      if (!isBefore(heap[child], last)) break
      this.#set(at, heap[child])
      at = child
    }
    heap[at] = last
  }

  change(edit: (happening: Happening) => void): void {
    for (const happening of this.#heap.splice(0)) {
      edit(happening)
      this.#put(happening)
    }
  }

  #clear(): void {
    for (const happening of this.#heap.splice(0)) if (!happening.isCancelled) this.#put(happening)
    this.#full = Math.max(256, 2 * this.#heap.length)
  }

  #set(at: number, happening: Happening | undefined): void {
    if (happening !== undefined) this.#heap[at] = happening
  }
}

function isBefore(one: Happening | undefined, other: Happening | undefined): boolean {
  if (one === undefined || other === undefined) return false
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}
