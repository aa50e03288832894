import { setTimeout as sleep } from 'node:timers/promises'
import type { EventEntry } from '../../../shared/domain/events.ts'
import type { OrderedLive, OrderedRecording } from '../../../shared/console/orders.ts'
import type { Answer } from '../api-client.ts'
import { KeepAliveCaller, type Reply } from '../controllers/keep-alive-caller.ts'
import { eventDifferences } from './logged-events.ts'

/** Progress of an order: it only rises. `absent`: it was never stored. */
const stages = ['absent', 'active', 'ended', 'deleted'] as const
type Stage = (typeof stages)[number]

const reached = { start: 'active', stop: 'ended', delete: 'deleted' } as const satisfies Record<string, Stage>
type Change = keyof typeof reached
/** In the order in which an order undergoes them. */
const changes = ['start', 'stop', 'delete'] as const satisfies readonly Change[]

const kinds = {
  recording: { start: 'recording.ordered', stop: 'recording.orderEnded', delete: 'recording.orderDeleted' },
  live: { start: 'live.ordered', stop: 'live.ended', delete: 'live.deleted' },
} as const satisfies Record<string, Record<Change, EventEntry['kind']>>

/** Kind of order, as the API names it in its paths. */
export type OrderedMedia = keyof typeof kinds

/** Answers that certainly changed nothing: no room, room closed, not there, nothing can be recorded. */
const refusals: readonly number[] = [404, 416, 429, 431]
/** Answers after which the change may be stored: node timeout, authentication timeout, storage. */
const unknowns: readonly number[] = [409, 504, 700]
const notFound = 430

/** Timeout of an answer, in milliseconds. */
const patience = 15_000
/** Maximum pause between two changes, in milliseconds. */
const pauseMs = 1_500

/** An order with the bounds of its stage: the acknowledged one, and the furthest that was requested. */
interface Order {
  tag: string
  /** Empty: no answer has named it yet. */
  id: string
  least: Stage
  most: Stage
}

type SeenOrder = Pick<OrderedRecording | OrderedLive, 'id' | 'tag' | 'state'>

/** Dependencies of a client that orders media. */
export interface MediaOrdersParts {
  /** URL of the media API of any controller. */
  url: () => string
  token: string
  random: () => number
}

/** Differences between the orders of some clients and the event log. @param events of recordings, oldest first */
export function orderEventDifferences(clients: readonly MediaOrders[], events: readonly EventEntry[]): string[] {
  return (['recording', 'live'] as const).flatMap((media) => {
    const own: ReadonlySet<string> = new Set(Object.values(kinds[media]))
    const logged = Map.groupBy(
      events.filter(({ kind }) => own.has(kind)),
      ({ subject }) => subject.id,
    )
    const found = clients
      .filter((client) => client.media === media)
      .flatMap(({ changed }) => changed)
      .flatMap(({ id, name, due }) => {
        const ofOrder = logged.get(id) ?? []
        logged.delete(id)
        return eventDifferences(name, due, ofOrder)
      })
    return [...found, ...Array.from(logged.keys(), (id) => `${media} ${id} is logged and was never ordered`)]
  })
}

/** A client that orders recordings or live streams of one camera at any controller, stops and deletes them, and keeps the answers as a history. */
export class MediaOrders {
  readonly media: OrderedMedia
  readonly userId: string
  readonly #roomId: string
  readonly #parts: MediaOrdersParts
  readonly #caller: KeepAliveCaller
  readonly #orders: Order[] = []
  readonly #counts = { acknowledged: 0, refused: 0, unknown: 0 }
  #isPaused = true
  #running: Promise<void> = Promise.resolve()

  constructor(media: OrderedMedia, { roomId, userId }: { roomId: string; userId: string }, parts: MediaOrdersParts) {
    this.media = media
    this.userId = userId
    this.#roomId = roomId
    this.#parts = parts
    this.#caller = new KeepAliveCaller(parts.random, patience)
  }

  /** Orders, stops and deletes until `pause`. Rejects with an answer that no controller may give. */
  resume(): void {
    this.#isPaused = false
    this.#running = this.#run()
    // Reported by `pause`.
    this.#running.catch(() => undefined)
  }

  /** Stops after the call in progress. @throws Error with a wrong answer */
  async pause(): Promise<void> {
    this.#isPaused = true
    await this.#running
  }

  close(): void {
    this.#caller.close()
  }

  /** Calls so far, by outcome. */
  get summary(): string {
    const { acknowledged, refused, unknown } = this.#counts
    return `${this.media}: ${acknowledged} acknowledged, ${refused} refused, ${unknown} unknown`
  }

  /** Starts an order that lasts. @throws Error if it is not acknowledged */
  async begin(): Promise<void> {
    const order = await this.#start()
    if (order.least !== 'active') throw new Error(`The ${this.media} of ${this.userId} was not acknowledged.`)
  }

  /** Stops everything that may be active. */
  async end(): Promise<void> {
    for (const order of this.#orders)
      while (order.id !== '' && rank(order.least) < rank('ended')) await this.#change(order, 'stop')
  }

  /**
   * Compares the stored orders with the history, and learns the outcome of unknown calls from them. Nothing may change meanwhile.
   * @returns ids of orders that are active now
   * @throws Error with each order that contradicts an answer
   */
  compare(stored: readonly SeenOrder[]): string[] {
    const byTag = new Map(stored.map((order) => [order.tag, order]))
    const wrong: string[] = []
    for (const order of this.#orders) {
      const seen = byTag.get(order.tag)
      byTag.delete(order.tag)
      const stage = seen === undefined ? (order.most === 'deleted' ? 'deleted' : 'absent') : stageOf(seen)
      const isPossible = rank(stage) >= rank(order.least) && rank(stage) <= rank(order.most)
      if (!isPossible || (order.id !== '' && seen !== undefined && seen.id !== order.id))
        wrong.push(`${this.media} ${JSON.stringify(order)} is stored as ${JSON.stringify(seen ?? null)}`)
      else if (seen !== undefined) Object.assign(order, { id: seen.id, least: stage })
      else if (order.id !== '') order.least = 'deleted'
    }
    for (const { tag, id } of byTag.values())
      if (tag.startsWith(`${this.userId}-`)) wrong.push(`${this.media} ${id} (${tag}) was never ordered`)
    if (wrong.length > 0) throw new Error(wrong.join('\n'))
    return this.#orders.filter(({ least }) => least === 'active').map(({ id }) => id)
  }

  /** Every order that has an id, with the events of its stored changes, as far as `compare` has learned them. */
  get changed(): { id: string; name: string; due: EventEntry['kind'][] }[] {
    const stored = this.#orders.filter(({ id }) => id !== '')
    return stored.map(({ id, tag, least }) => ({
      id,
      name: `${this.media} ${id} (${tag})`,
      due: changes.filter((change) => rank(reached[change]) <= rank(least)).map((change) => kinds[this.media][change]),
    }))
  }

  async #run(): Promise<void> {
    const { random } = this.#parts
    while (!this.#isPaused) {
      const order = this.#orders.findLast(({ id, most }) => id !== '' && most !== 'deleted')
      if (order === undefined || (rank(order.most) >= rank('ended') && random() < 0.4)) await this.#start()
      else await this.#change(order, rank(order.least) < rank('ended') ? 'stop' : 'delete')
      await sleep(random() * pauseMs)
    }
  }

  async #start(): Promise<Order> {
    const order: Order = { tag: `${this.userId}-${this.#orders.length}`, id: '', least: 'absent', most: 'absent' }
    this.#orders.push(order)
    await this.#change(order, 'start')
    return order
  }

  async #change(order: Order, change: Change): Promise<void> {
    const stage = reached[change]
    const { most } = order
    if (rank(stage) > rank(most)) order.most = stage
    const parameters =
      change === 'start' ? { room_id: this.#roomId, user_id: this.userId, tag: order.tag } : { id: order.id }
    const query = new URLSearchParams({ ...parameters, access_token: this.#parts.token })
    const reply = await this.#caller.call(`${this.#parts.url()}/rtc/${this.media}/${change}?${query.toString()}`)
    if (reply.as === 'nobody') {
      order.most = most
      return
    }
    const answer = answerOf(reply)
    if (answer?.ret === 0) {
      this.#counts.acknowledged++
      if (rank(stage) > rank(order.least)) order.least = stage
      if (change === 'start') order.id = String(answer.id)
    } else if (answer === undefined || unknowns.includes(answer.ret)) this.#counts.unknown++
    else if (change === 'start' && refusals.includes(answer.ret)) {
      this.#counts.refused++
      order.most = most
    } else if (answer.ret === notFound && order.most === 'deleted') order.least = 'deleted'
    else throw new Error(`${change} of ${this.media} ${JSON.stringify(order)} was answered ${JSON.stringify(answer)}`)
  }
}

function rank(stage: Stage): number {
  return stages.indexOf(stage)
}

function stageOf({ state }: SeenOrder): Stage {
  return ['waiting', 'recording', 'living'].includes(state) ? 'active' : 'ended'
}

/** Undefined: the outcome is unknown. */
function answerOf(reply: Reply): Answer | undefined {
  if (reply.as !== 'answer' || reply.status !== 200) return undefined
  return JSON.parse(reply.body) as Answer
}
