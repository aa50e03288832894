import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers'
import timersPromises from 'node:timers/promises'
import { currentMachine } from './world.ts'
import type { Machine } from './machine.ts'

/*
 * Puts the simulated time under Node's own clocks, timers and random numbers: a call from the code of a simulated machine gets those of its machine, every other call the real ones. So
 * parts of the controller that do not take their time from `server/store/system` run as they are.
 * Import this before what it serves.
 */

type Run = (...given: unknown[]) => unknown

/** A timer of a simulated machine, with the methods of Node's that the controller calls. */
class MachineTimer {
  readonly #machine: Machine
  readonly #run: () => unknown
  readonly #milliseconds: number
  readonly #repeats: boolean
  #timer: { cancel(): void }

  constructor(machine: Machine, run: () => unknown, milliseconds: number, repeats: boolean) {
    this.#machine = machine
    this.#run = run
    this.#milliseconds = milliseconds
    this.#repeats = repeats
    this.#timer = this.#plan()
  }

  #plan(): { cancel(): void } {
    return this.#machine.after(this.#milliseconds, () => {
      if (this.#repeats) this.#timer = this.#plan()
      this.#run()
    })
  }

  cancel(): void {
    this.#timer.cancel()
  }

  refresh(): this {
    this.#timer.cancel()
    this.#timer = this.#plan()
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return true
  }
}

/** Replaces a function of a module or of the global object; properties such as `promisify.custom` stay. */
function replace(owners: readonly object[], name: string, make: (own: Run) => Run): void {
  for (const owner of owners) {
    const own: unknown = Reflect.get(owner, name)
    if (typeof own !== 'function') throw new Error(`There is no ${name}.`)
    const bound: Run = (...given) => Reflect.apply(own, owner, given)
    const replaced = Object.defineProperties(make(bound), Object.getOwnPropertyDescriptors(own))
    Reflect.defineProperty(owner, name, { value: replaced, writable: true, configurable: true, enumerable: true })
  }
}

function begin(repeats: boolean): (own: Run) => Run {
  return (own) =>
    (...given) => {
      const machine = currentMachine()
      const [run, milliseconds = 0, ...rest] = given
      if (machine === undefined || typeof run !== 'function') return own(...given)
      return new MachineTimer(machine, () => void Reflect.apply(run, undefined, rest), Number(milliseconds), repeats)
    }
}

const end =
  (own: Run): Run =>
  (...given) =>
    given[0] instanceof MachineTimer ? given[0].cancel() : own(...given)

/** Resolves after a time of the machine. @throws the reason of the signal */
function sleepOn(machine: Machine, milliseconds: number, value: unknown, signal: AbortSignal | undefined): unknown {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason)
    const aborted = (): void => {
      timer.cancel()
      reject(signal?.reason)
    }
    const timer = machine.after(milliseconds, () => {
      signal?.removeEventListener('abort', aborted)
      resolve(value)
    })
    signal?.addEventListener('abort', aborted, { once: true })
  })
}

const signalOf = (options: unknown): AbortSignal | undefined =>
  typeof options === 'object' && options !== null && 'signal' in options && options.signal instanceof AbortSignal
    ? options.signal
    : undefined

function serveTimers(): void {
  const owners = [globalThis, timers]
  replace(owners, 'setTimeout', begin(false))
  replace(owners, 'setInterval', begin(true))
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) replace(owners, name, end)
  replace(owners, 'setImmediate', (own) => (...given) => {
    const machine = currentMachine()
    const [run, ...rest] = given
    if (machine === undefined || typeof run !== 'function') return own(...given)
    return new MachineTimer(machine, () => void Reflect.apply(run, undefined, rest), 0, false)
  })
  replace([timersPromises], 'setTimeout', (own) => (milliseconds, value, options) => {
    const machine = currentMachine()
    if (machine === undefined) return own(milliseconds, value, options)
    return sleepOn(machine, Number(milliseconds ?? 0), value, signalOf(options))
  })
  replace([timersPromises], 'setImmediate', (own) => (value, options) => {
    const machine = currentMachine()
    return machine === undefined ? own(value, options) : sleepOn(machine, 0, value, signalOf(options))
  })
}

function serveClocks(): void {
  replace([Date], 'now', (own) => () => currentMachine()?.now() ?? own())
  replace([performance], 'now', (own) => () => currentMachine()?.monotonic() ?? own())
  replace([AbortSignal], 'timeout', (own) => (milliseconds) => {
    const machine = currentMachine()
    if (machine === undefined) return own(milliseconds)
    const over = new AbortController()
    machine.after(Number(milliseconds), () => over.abort(new DOMException('The time is over.', 'TimeoutError')))
    return over.signal
  })
}

function serveChance(): void {
  replace([crypto], 'randomInt', (own) => (...given) => {
    const machine = currentMachine()
    if (machine === undefined) return own(...given)
    const [first, second] = given.map(Number)
    const [from, to] = second === undefined || Number.isNaN(second) ? [0, first ?? 1] : [first ?? 0, second]
    return machine.integer(from, to - 1)
  })
  replace(
    [crypto],
    'randomUUID',
    (own) =>
      (...given) =>
        currentMachine()?.uuid() ?? own(...given),
  )
}

serveTimers()
serveClocks()
serveChance()
syncBuiltinESMExports()
