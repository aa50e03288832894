import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiClient } from '../api-client.ts'
import { seededRandom } from '../../../shared/seeded-random.ts'
import { requestOf, roomIdOf, outcomeOf, tokenOf } from './api-calls.ts'
import type { ControllersSite, SiteController } from '../sites/controllers-site.ts'
import { credential } from '../sites/controllers-site.ts'
import type { Asked, Call, Outcome } from './history.ts'
import { isChange } from './history.ts'
import { KeepAliveCaller, type Reply } from './keep-alive-caller.ts'

/** Number of clients that share the rooms of a group, and of calls before a group changes its rooms. */
const groupSize = 3
const roomsOfGroup = 4
const callsOfGroup = 120
/** Delay before a retry after a refused connection, in milliseconds. */
const refusedMs = 15
/** Default timeout of an answer, in milliseconds: well above every deadline of a site. */
const patience = 15_000
/** Maximum number of reads of the final state. */
const maxReads = 200

export interface ClientsOptions {
  seed: number
  /** Number of clients. */
  clients: number
  /** Maximum pause between two calls of a client, in milliseconds. */
  pauseMs?: number
  /** Timeout of an answer, in milliseconds; the client then continues. */
  givesUpMs?: number
}

/** Rooms that several clients use at the same time. */
interface Group {
  owner: string
  calls: number
  /** Their room_ids, chosen by the clients or by the site. */
  rooms: string[]
  numbered: string[]
}

/**
 * Clients that never stop: they create, change, read and delete the same rooms through every address of a site, whatever happens there, and record each call.
 * They never repeat a request with unknown outcome.
 */
export class TirelessClients {
  readonly history: Call[] = []
  readonly #site: ControllersSite
  readonly #options: ClientsOptions
  readonly #random: () => number
  readonly #tokens: string
  readonly #keys: ReadonlyMap<string, string>
  readonly #running: Promise<void>[] = []
  #stopped = false
  #changes = 0
  #unique = 0

  private constructor(
    site: ControllersSite,
    options: ClientsOptions,
    token: string,
    keys: ReadonlyMap<string, string>,
  ) {
    this.#site = site
    this.#options = options
    this.#random = seededRandom(options.seed)
    this.#tokens = token
    this.#keys = keys
  }

  /** Starts the clients. */
  static async start(site: ControllersSite, options: ClientsOptions): Promise<TirelessClients> {
    const { headless } = await site.leader()
    const api = new ApiClient(headless.ready, credential)
    const answer = await api.authenticate()
    if (answer.ret !== 0) throw new Error(`authenticate: ${JSON.stringify(answer)}`)
    const keys = await Promise.all(site.controllers.map(async (one) => [one.name, await consoleKey(one)] as const))
    const clients = new TirelessClients(site, options, api.token, new Map(keys))
    for (let first = 0; first < options.clients; first += groupSize) clients.#group(first)
    return clients
  }

  /** Waits for this many acknowledged changes that were requested after now. @param within milliseconds */
  async moreChanges(count: number, within = 30_000): Promise<void> {
    const [from, began] = [this.history.length, performance.now()]
    let [acknowledged, at] = [0, from]
    while (acknowledged < count) {
      for (; at < this.history.length; at++) {
        const call = this.history[at]
        if (call !== undefined && call.start >= began && call.outcome.as === 'done' && isChange(call)) acknowledged++
      }
      if (performance.now() - began > within)
        throw new Error(
          `${acknowledged} of ${count} changes were acknowledged within ${within} ms${this.#site.lastWords()}`,
        )
      await sleep(2)
    }
  }

  /** Number of acknowledged changes so far. */
  get changes(): number {
    return this.#changes
  }

  /** Stops after the calls in progress. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#running)
  }

  /** Reads the final state as the last calls of the history: all rooms of each owner, and the devices of each room. */
  async readEverything(): Promise<void> {
    const reader = this.visitor('reader')
    const read = async (owner: string, asked: Asked): Promise<void> => {
      for (let turn = 0; turn < maxReads; turn++) {
        const { as } = await reader.ask(owner, asked)
        if (as !== 'unasked' && as !== 'open') return
        await sleep(refusedMs)
      }
      throw new Error(`Nobody answers in the end${this.#site.lastWords()}`)
    }
    for (const owner of new Set(this.history.map((call) => call.owner))) await read(owner, { do: 'list', owner })
    const withDevices = new Map<string, string>()
    for (const { asked, owner } of this.history) if (asked.do === 'addDevice') withDevices.set(asked.room, owner)
    for (const [room, owner] of withDevices) await read(owner, { do: 'devices', room })
    reader.close()
  }

  /** Makes a client whose requests the story chooses. */
  visitor(name: string): Client {
    return new Client(name, this, seededRandom(Math.floor(this.#random() * 2 ** 32)), patience)
  }

  get site(): ControllersSite {
    return this.#site
  }

  get stopped(): boolean {
    return this.#stopped
  }

  get token(): string {
    return this.#tokens
  }

  keyOf({ name }: SiteController): string {
    return this.#keys.get(name) ?? ''
  }

  unique(): number {
    return ++this.#unique
  }

  note(call: Call): void {
    this.history.push(call)
    if (call.outcome.as === 'done' && isChange(call)) this.#changes++
  }

  #group(first: number): void {
    const last = Math.min(first + groupSize, this.#options.clients)
    const shared = { group: newGroup(first, 0), generation: 0 }
    const groupOf = (): Group => {
      if (shared.group.calls++ >= callsOfGroup) shared.group = newGroup(first, ++shared.generation)
      return shared.group
    }
    for (let index = first; index < last; index++) {
      const client = new Client(
        `c${index}`,
        this,
        seededRandom(Math.floor(this.#random() * 2 ** 32)),
        this.#options.givesUpMs ?? patience,
      )
      this.#running.push(client.run(groupOf, this.#options.pauseMs ?? 10).finally(() => client.close()))
    }
  }
}

function newGroup(first: number, generation: number): Group {
  const owner = `g${first}.${generation}.`
  return {
    owner,
    calls: 0,
    numbered: [],
    rooms: Array.from({ length: roomsOfGroup }, (_, index) => `${owner}${index}`),
  }
}

/** One client: sends one request after the other. */
export class Client {
  readonly #name: string
  readonly #all: TirelessClients
  readonly #random: () => number
  readonly #caller: KeepAliveCaller
  /** Devices that were certainly added and are not being removed. */
  readonly #devices: { room: string; user: string }[] = []
  #token: string

  constructor(name: string, all: TirelessClients, random: () => number, givesUpMs: number) {
    this.#token = all.token
    this.#name = name
    this.#all = all
    this.#random = random
    this.#caller = new KeepAliveCaller(random, givesUpMs)
  }

  async run(group: () => Group, pauseMs: number): Promise<void> {
    while (!this.#all.stopped) {
      const mine = group()
      const outcome = await this.ask(mine.owner, this.#next(mine), { group: mine })
      await sleep(outcome.as === 'unasked' ? refusedMs : this.#random() * pauseMs)
    }
  }

  close(): void {
    this.#caller.close()
  }

  /** Sends a request to one address of the site, random by default, and records it. */
  async ask(owner: string, asked: Asked, { at, group }: { at?: SiteController; group?: Group } = {}): Promise<Outcome> {
    const { controllers, drained } = this.#all.site
    const controller = at ?? this.#one(controllers.filter((one) => !drained.has(one)))
    const start = performance.now()
    const reply = await this.#send(controller, asked, owner)
    const end = performance.now()
    let noted = asked
    const outcome = outcomeOf(reply, asked)
    if (asked.do === 'create' && asked.room === '') {
      // The site generated the room_id.
      const room = outcome.as === 'done' ? roomIdOf(reply) : ''
      noted = { ...asked, room }
      if (room !== '') group?.numbered.push(room)
    }
    if (asked.do === 'signIn' && outcome.as === 'done') this.#token = tokenOf(reply)
    if (asked.do === 'addDevice' && outcome.as === 'done') this.#devices.push({ room: asked.room, user: asked.user })
    this.#all.note({ client: this.#name, at: controller.name, owner, asked: noted, outcome, start, end })
    return outcome
  }

  #next({ owner, rooms, numbered }: Group): Asked {
    const room = this.#one(rooms)
    const chance = this.#random()
    const topic = `${this.#name}.${this.#all.unique()}`
    if (chance < 0.22) return { do: 'create', room, topic }
    if (chance < 0.3) return { do: 'create', room: '', topic }
    if (chance < 0.45) return { do: 'update', room, topic }
    if (chance < 0.57) return { do: 'delete', room }
    if (chance < 0.6) return { do: 'delete', room: numbered.length === 0 ? room : this.#one(numbered) }
    if (chance < 0.65) return { do: 'addDevice', room, user: `u.${topic}` }
    if (chance < 0.68) {
      const [device] = this.#devices.splice(0, 1)
      if (device?.room.startsWith(owner) === true) return { do: 'removeDevice', ...device }
    }
    if (chance < 0.74) return { do: 'devices', room }
    if (chance < 0.78) return { do: 'users', room }
    if (chance < 0.82) return { do: 'list', owner }
    if (chance < 0.87) return { do: 'signIn' }
    return { do: 'get', room: numbered.length > 0 && this.#random() < 0.2 ? this.#one(numbered) : room }
  }

  #one<T>(of: readonly [T, ...T[]] | readonly T[]): T {
    const one = of[Math.floor(this.#random() * of.length)]
    if (one === undefined) throw new Error('There is nothing to choose from.')
    return one
  }

  #send(controller: SiteController, asked: Asked, owner: string): Promise<Reply> {
    const { media, device, console: consoleUrl } = controller.headless.ready
    if (asked.do === 'list') {
      const authorization = `Bearer ${this.#all.keyOf(controller)}`
      const body = JSON.stringify({ search: asked.owner, limit: 500 })
      return this.#caller.call(`${consoleUrl}/rpc/rooms.list`, {
        body,
        headers: { authorization, 'content-type': 'application/json' },
      })
    }
    const [base, path, parameters] = requestOf(asked, owner, this.#token)
    const query = new URLSearchParams(parameters).toString()
    // The device API takes either.
    if (base === 'device' && this.#random() < 0.5) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      return this.#caller.call(device + path, { body: query, headers })
    }
    return this.#caller.call(`${base === 'media' ? media : device}${path}?${query}`)
  }
}

async function consoleKey({ headless }: SiteController): Promise<string> {
  return (await readFile(join(headless.folder, 'console.key'), 'utf8')).trim()
}
