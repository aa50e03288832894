import { clusterTimes } from '../../../server/store/election/timings.ts'
import { askOthersBy, registerBy } from '../../../server/cluster/join-site.ts'
import type { AskPeer } from '../../../server/cluster/peer-console.ts'
import { ClusterMember } from '../../../server/store/election/cluster-member.ts'
import type { FencedStore } from '../../../server/store/election/site-member.ts'
import { parseDatabaseAddress } from '../../../server/store/postgres/database-address.ts'
import { openRoomNumberFile, type RoomNumberRecord } from '../../../server/store/postgres/room-numbers.ts'
import { createSealer } from '../../../server/store/sealer.ts'
import { sleepOn, startTimer } from '../../../server/store/system/time.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import type { Collections, StoreNotice } from '../../../server/store/store.ts'
import { LeaderDuties } from '../media/leader-duties.ts'
import { carryOutMedia, type MediaOperation } from '../media/media-operation.ts'
import { SimulatedRecorder } from '../media/recorder.ts'
import type { ScheduleWatch } from '../media/schedule-watch.ts'
import type { Machine } from '../machine.ts'
import { BrokenPromise } from '../history.ts'
import { ask, whyUnreached } from '../network.ts'
import { DatabaseConnections } from '../postgres/client.ts'
import type { PostgresServer } from '../postgres/server.ts'
import type { ServingSite } from './client.ts'
import { answerPeer } from './peer-answers.ts'
import { SimulatedProxy } from './proxy.ts'
import {
  carryOut,
  deadlineMs,
  isOfRooms,
  type Operation,
  refusedBy,
  type Reply,
  roomsOf,
  versionsOf,
} from './operation.ts'

/** How much later an answer may come: a call may wait for a leader, for the proof that it leads, and for its change, with one deadline each. */
const graceMs = 2 * deadlineMs + 700

/** Between two reads of the status, in milliseconds. */
const readEveryMs = 1_000

/** Every controller of a site has its key. */
const sealer = createSealer(Buffer.alloc(32, 7))

/** The whole simulated site, as a controller reaches it. */
export interface SimulatedSite extends ServingSite {
  servers: readonly PostgresServer[]
  controllers: readonly SimulatedController[]
  schedules: ScheduleWatch
  /** Milliseconds until meetings begin or end; infinite: no room has any. */
  untilMeetings: () => number
  /** A leader has recorded and opens rooms by their schedules. */
  hasDuties: boolean
}

/** A controller: the real membership, election, follower and store on a simulated machine; its APIs are short forms of the real ones. */
export class SimulatedController {
  readonly machine: Machine
  readonly #site: SimulatedSite
  readonly #connections: DatabaseConnections
  readonly #id: string
  #member: ClusterMember | undefined
  #store: FencedStore | undefined
  readonly recorder: SimulatedRecorder
  #duties: LeaderDuties | undefined
  #isRunning = false
  #startedAt = 0
  #roles = 0
  #terms = 0
  readonly #losses: StoreNotice[] = []
  #proxy: SimulatedProxy

  constructor(site: SimulatedSite, machine: Machine) {
    this.#site = site
    this.machine = machine
    this.recorder = new SimulatedRecorder(site.world, machine)
    this.#id = machine.uuid()
    this.#proxy = new SimulatedProxy(site, machine)
    this.#connections = new DatabaseConnections(site.world, site.network, machine, site.servers)
    machine.reach = async (host) => {
      const to = site.controllers.find(({ name }) => name === host)
      if (to === undefined) return 'there is no such machine'
      return await whyUnreached({ network: site.network, from: machine, to: to.machine }, clusterTimes.connect)
    }
  }

  get name(): string {
    return this.machine.name
  }

  /** The membership that it has now; undefined: its process does not run. */
  get member(): ClusterMember | undefined {
    return this.#member
  }

  /** Whether it leads, as far as it knows. */
  get leads(): boolean {
    return this.#store !== undefined
  }

  /** Number of times that it began to lead. */
  get terms(): number {
    return this.#terms
  }

  /** Reports of changes that were lost, since the beginning. */
  get losses(): readonly StoreNotice[] {
    return this.#losses
  }

  /** Versions of the rooms in its memory. */
  get versions(): ReadonlyMap<string, number> {
    return versionsOf(this.#store ?? this.#member?.followed)
  }

  /** Everything of a collection in its memory. */
  all<C extends 'recordings' | 'lives' | 'recording_wishes'>(collection: C): Collections[C][] {
    const memory = this.#store ?? this.#member?.followed
    return memory === undefined ? [] : [...memory.all(collection).values()]
  }

  /** All rooms in its memory. */
  get rooms(): string {
    return roomsOf(this.#store ?? this.#member?.followed)
  }

  /** Begin of its process, simulated milliseconds. */
  get startedAt(): number {
    return this.#startedAt
  }

  /** Does nothing while its process runs. */
  start(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    this.#proxy = new SimulatedProxy(this.#site, this.machine)
    this.#startedAt = this.#site.world.time
    this.machine.boot()
    this.#site.world.note(this.name, 'starts')
    this.#site.world.plan(0, () => void this.#run().catch(this.#site.world.fail), this.machine)
  }

  /** Ends at once, whatever is under way (SIGKILL). @param isOff the whole machine ends, and says nothing to anybody */
  kill(isOff: boolean): void {
    this.machine.kill()
    this.#isRunning = false
    this.machine.isOff = isOff
    this.#connections.processEnded(isOff)
    this.#member = undefined
    this.#store = undefined
    this.#duties = undefined
    this.recorder.end()
    this.#roles++
    this.#site.world.note(this.name, isOff ? 'is switched off' : 'is killed')
  }

  /** Hands over by hand. @returns why not; empty: it has */
  async handOver(to: SimulatedController): Promise<string> {
    const { world } = this.#site
    try {
      await this.#member?.handOver(to.#id)
      world.note(this.name, `handed over to ${to.name}`)
      return ''
    } catch (error) {
      world.note(this.name, `could not hand over: ${String(error)}`)
      return String(error)
    }
  }

  /** Reads its status every second, as metrics, `/healthz` and the overview do. */
  readStatusRegularly(): void {
    const { world } = this.#site
    const read = (): void => {
      this.#member?.database()
      this.#member?.lease()
      this.#store?.status()
    }
    const again = (): void => {
      world.plan(0, read, this.machine)
      world.plan(readEveryMs, again)
    }
    world.plan(world.random() * readEveryMs, again)
  }

  /** Changes its role again and again, as `SiteController` does. */
  async #run(): Promise<void> {
    const { world } = this.#site
    const role = this.#roles
    let before: ClusterMember | undefined
    for (;;) {
      const roomNumbers = await openRoomNumberFile('/site', undefined)
      if (role !== this.#roles) return
      const member = this.#join(before, roomNumbers)
      this.#member = member
      member.followed.onChange(this.#site.schedules.changed)
      member.onLost((notice) => void this.#losses.push(notice))
      const look = (): void => {
        const leader = member.leader()
        if (leader !== undefined && leader.id !== this.#id && this.#store === undefined) this.#proxy.way.lead(leader)
      }
      const stopLooking = member.onLeader(look)
      look()
      member.announce(placeOf(this.name))
      try {
        const store = await member.lead(new AbortController().signal)
        if (role !== this.#roles) return
        this.#store = store
        this.#begin(store)
        this.#terms++
        this.#proxy.way.lead({ id: this.#id, place: placeOf(this.name) }, true)
        world.note(this.name, `leads with epoch ${store.epoch}`)
        const why = await store.fenced
        world.note(this.name, `leads no more: ${why.message}`)
      } catch (error) {
        world.note(this.name, `could not lead: ${String(error)}`)
        await sleepOn(1_000)
      }
      if (role !== this.#roles) return
      stopLooking()
      if (this.#store !== undefined) this.#proxy.way.leave()
      this.#store = undefined
      void this.#duties?.stop().catch(world.fail)
      this.#duties = undefined
      await member.close()
      before = member
    }
  }

  /** Begins what a controller does while it leads. */
  #begin(store: FencedStore): void {
    store.onChange(this.#site.schedules.changed)
    if (!this.#site.hasDuties) return
    const note = this.#note
    this.#duties = new LeaderDuties({ store, recorder: this.recorder, schedules: this.#site.schedules, note })
    this.#duties.start()
  }

  /** As a logger. */
  readonly #note = (details: object, message: string): void => {
    const { err } = details as { err?: unknown }
    const why = err === undefined ? '' : ` (${err instanceof Error ? err.message : 'unknown'})`
    this.#site.world.note(this.name, `${message}${why}`)
  }

  #join(before: ClusterMember | undefined, roomNumbers: RoomNumberRecord): ClusterMember {
    const hosts = this.#site.servers.map(({ name }) => name).join(',')
    const database = `postgres://roomdesk@${hosts}/site`
    const note = this.#note
    const asked = this.#ask
    return new ClusterMember(
      {
        folder: '/site',
        database,
        sealer,
        name: this.name,
        version: '1',
        logger: { info: note, warn: note, error: note },
        clock: () => this.machine.now(),
        deadlineMs: () => deadlineMs,
        snapshotAfterBytes: 20_000,
        backupEveryMs: Number.POSITIVE_INFINITY,
        askOthers: askOthersBy(asked),
        register: registerBy(asked),
        ...(before === undefined ? {} : { before }),
      },
      {
        id: this.#id,
        address: parseDatabaseAddress(database),
        folderId: this.#id,
        found: [],
        roomNumbers,
        unlock: () => Promise.resolve(),
      },
    )
  }

  /** `askConsole`, over the simulated network; who answers is proven. */
  readonly #ask: AskPeer = async ({ place }, { path, body = '' }, signal) => {
    const to = this.#site.controllers.find(({ name }) => place.console === placeOf(name).console)
    if (to === undefined) return undefined
    const { world, network } = this.#site
    return await ask(
      { world, network, from: this.machine, to: to.machine },
      () => answerPeer(to.#member, to.#store, path, body),
      signal,
    )
  }

  /** Answers a client. A caller that it keeps waiting beyond the deadline breaks a promise (contract: every call is answered in time). */
  async serve(operation: Operation): Promise<Reply> {
    const { machine } = this
    const [began, pauses] = [machine.monotonic(), machine.pauses]
    const late = startTimer(deadlineMs + graceMs, () => {
      if (machine.pauses !== pauses || machine.isStopped) return
      this.#site.world.note(this.name, `has not answered ${operation.kind} ${operation.key}`)
      this.#site.world.fail(
        new BrokenPromise(`${this.name} kept somebody waiting for ${Math.round(machine.monotonic() - began)} ms`),
      )
    })
    try {
      return await this.handle(operation, false)
    } finally {
      late.cancel()
    }
  }

  /** Does what a client asks, or passes it on to the controller that leads. @param isPassedOn by another controller */
  async handle(operation: Operation, isPassedOn: boolean): Promise<Reply> {
    const end = this.machine.monotonic() + deadlineMs
    for (;;) {
      const store = this.#store
      if (store !== undefined) {
        const reply = await this.#operate(store, operation)
        if (reply.kind !== 'notLeader' || isPassedOn) return reply
      } else if (isPassedOn) return { kind: 'notLeader' }
      else {
        const reply = await this.#proxy.passOn(operation, end)
        if (reply !== undefined) return reply
      }
      if (this.machine.monotonic() >= end) return { kind: 'refused', why: 'nobody leads' }
      await sleepOn(50)
    }
  }

  /** As the request handler: what an unsure leader may not say is asked of the other. */
  async #operate(store: FencedStore, operation: Operation): Promise<Reply> {
    try {
      // Pages are mounted beside the operations, and prove by themselves that this controller leads.
      const unsure = operation.kind === 'page' ? undefined : store.confirmed()
      if (unsure !== undefined) await unsure
    } catch (error) {
      return error instanceof ApiError ? { kind: 'refused', why: error.message } : { kind: 'notLeader' }
    }
    try {
      return isOfRooms(operation) ? await carryOut(store, operation) : await this.#operateMedia(operation)
    } catch (error) {
      return refusedBy(error)
    }
  }

  async #operateMedia(operation: MediaOperation): Promise<Reply> {
    if (this.#duties === undefined) return { kind: 'notLeader' }
    return { kind: 'done', id: 0, ...(await carryOutMedia(this.#duties, operation)) }
  }
}

function placeOf(name: string) {
  const url = `http://${name}`
  return { media: url, device: url, node: url, console: url, event: url, certificate: '' }
}
