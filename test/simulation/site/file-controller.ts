import { openStore } from '../../../server/store/open-store.ts'
import { createSealer } from '../../../server/store/sealer.ts'
import type { Store } from '../../../server/store/store.ts'
import { ownFiles } from '../../../server/store/system/system.ts'
import { startTimer, wallClock } from '../../../server/store/system/time.ts'
import { diskRoot } from '../disk/tree.ts'
import { BrokenPromise } from '../history.ts'
import type { Machine } from '../machine.ts'
import type { World } from '../world.ts'
import type { ServingController } from './client.ts'
import { carryOut, deadlineMs, isOfRooms, type Operation, refusedBy, type Reply, roomsOf } from './operation.ts'

const folder = `${diskRoot}/var/site`
/** Milliseconds by which an answer may be late. */
const graceMs = 700
/** Whoever supervises a program starts it again so long after it has ended, in milliseconds. */
const restartMs = 1_000
const sealer = createSealer(Buffer.alloc(32, 7))

/** A controller whose site is in files: the real store on the simulated disk of its machine; its APIs are short forms of the real ones. */
export class FileController implements ServingController {
  readonly machine: Machine
  readonly #world: World
  readonly #snapshotAfterBytes: number
  #store: Store | undefined
  #isRunning = false
  /** Backups that the operator was told to be kept. */
  readonly #backups = new Set<string>()

  constructor(world: World, machine: Machine) {
    this.#world = world
    this.machine = machine
    machine.files = ownFiles
    this.#snapshotAfterBytes = world.pick([1_000, 5_000, 20_000])
  }

  get name(): string {
    return this.machine.name
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** It serves calls. */
  get isOpen(): boolean {
    return this.#store !== undefined
  }

  /** All rooms in its memory. */
  get rooms(): string {
    return roomsOf(this.#store)
  }

  /** Does nothing while its process runs. */
  start(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    this.machine.boot()
    this.#world.note(this.name, 'starts')
    this.#world.plan(0, () => void this.#run().catch(this.#world.fail), this.machine)
  }

  /** Ends at once, whatever is under way (SIGKILL). */
  kill(): void {
    this.machine.kill()
    this.#ended('is killed')
  }

  cutPower(): void {
    this.#ended('loses its power')
    this.machine.cutPower()
  }

  /** Ends in order (SIGTERM). */
  stop(): void {
    const store = this.#store
    if (store === undefined) return
    this.#world.note(this.name, 'stops')
    const { life } = this.machine
    const end = (): void => {
      if (this.machine.life === life) this.kill()
    }
    const close = (): void => void store.close().then(end, end)
    this.#world.plan(0, close, this.machine)
  }

  /** The operator makes a backup that stays. */
  backUp(): void {
    const store = this.#store
    const make = async (): Promise<void> => {
      const backup = await store?.backups.make(true).catch((error: unknown) => {
        this.#world.note(this.name, `makes no backup: ${String(error)}`)
      })
      if (backup === undefined) return
      this.#world.note(this.name, `keeps the backup ${backup.name}`)
      this.#backups.add(backup.name)
    }
    this.#world.plan(0, () => void make().catch(this.#world.fail), this.machine)
  }

  /** Answers a client. A caller that it keeps waiting beyond the deadline breaks a promise (contract: every call is answered in time). */
  async serve(operation: Operation): Promise<Reply> {
    const { machine } = this
    const [began, pauses] = [machine.monotonic(), machine.pauses]
    const late = startTimer(deadlineMs + graceMs, () => {
      if (machine.pauses !== pauses || machine.isStopped) return
      this.#world.note(this.name, `has not answered ${operation.kind} ${operation.key}`)
      const waited = Math.round(machine.monotonic() - began)
      this.#world.fail(new BrokenPromise(`${this.name} kept somebody waiting for ${waited} ms`))
    })
    try {
      const store = this.#store
      if (store === undefined) return { kind: 'refused', why: 'it is starting' }
      if (operation.kind === 'read') store.writeBehind('last_uses', operation.key, { at: wallClock() })
      if (!isOfRooms(operation)) return { kind: 'refused', why: 'it serves rooms only' }
      return await carryOut(store, operation)
    } catch (error) {
      return refusedBy(error)
    } finally {
      late.cancel()
    }
  }

  async #run(): Promise<void> {
    const note = (details: object, message: string): void => {
      const { err } = details as { err?: unknown }
      this.#world.note(this.name, `${message}${err instanceof Error ? ` (${err.message})` : ''}`)
    }
    let store: Store
    try {
      store = await openStore({
        folder,
        sealer,
        logger: { info: note, warn: note, error: note },
        deadlineMs: () => deadlineMs,
        snapshotAfterBytes: this.#snapshotAfterBytes,
      })
      await this.#expectNothingLost(store)
    } catch (error) {
      if (error instanceof BrokenPromise) throw error
      this.#world.note(this.name, `does not open: ${String(error)}`)
      this.kill()
      const { life } = this.machine
      this.#world.plan(restartMs, () => {
        if (this.machine.life === life && !this.machine.isOff) this.start()
      })
      return
    }
    this.#world.note(this.name, `serves ${store.all('rooms').size} rooms`)
    this.#store = store
  }

  /** No disk here loses what it has synced: whoever says so is wrong. */
  async #expectNothingLost(store: Store): Promise<void> {
    const lost = store.status().losses.find((notice) => notice.lost === true)
    if (lost !== undefined) this.#broken(`${this.name} says that changes are lost: ${lost.message}`)
    const backups = new Set((await store.backups.list()).map(({ name }) => name))
    const gone = [...this.#backups].find((name) => !backups.has(name))
    if (gone !== undefined) this.#broken(`the backup ${gone} is gone`)
  }

  #ended(how: string): void {
    this.#isRunning = false
    this.#store = undefined
    this.#world.note(this.name, how)
  }

  #broken(what: string): never {
    this.#world.note('HISTORY', what)
    throw new BrokenPromise(what)
  }
}
