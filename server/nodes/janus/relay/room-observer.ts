import { z } from 'zod'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import type { StoredRelayObserver } from '../../../store/records.ts'
import { isRefusal, NodeError } from '../../port/media-node-port.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { HandleEvent, JanusHandle } from '../wire/janus-handle.ts'
import { RoomFeeds } from '../people/room-feeds.ts'
import type { RelayNode } from './relay-node.ts'

/** Somebody publishes in a room. Another object is another publication, even of the same participant. */
export interface Publication {
  id: string
  /** The name that is shown. */
  display: string
  /** Form of the stream: when it changes, it is relayed again. */
  form: string
  /** When it was first seen, in milliseconds of `performance.now`. */
  since: number
}

const trackSchema = z.looseObject({
  type: z.string(),
  mid: z.string().optional(),
  codec: z.string().optional(),
  disabled: z.boolean().optional(),
})
const publisherSchema = z.looseObject({
  id: z.string(),
  display: z.string().default(''),
  streams: z.array(trackSchema).default([]),
})
const joinedSchema = z.looseObject({
  private_id: z.number(),
  publishers: z.array(publisherSchema).default([]),
  attendees: z.array(z.looseObject({ id: z.string() })).default([]),
})
const changeSchema = z.looseObject({
  videoroom: z.string(),
  publishers: z.array(publisherSchema).default([]),
  unpublished: z.unknown().optional(),
  leaving: z.unknown().optional(),
  kicked: z.unknown().optional(),
})

/** Opaque id in Janus's events. */
const opaqueId = 'roomdesk-relay'
const never = new AbortController().signal

/** A participant of ours in a room of one node, which publishes nothing: it learns who publishes there, and its number lets us subscribe if rooms require one (`require_pvtid`). */
export class RoomObserver {
  /** In whose name we subscribe in the room: fields of such a join. */
  readonly credentials: Readonly<Record<string, unknown>>
  /** Participants of relays that were there before it came. */
  readonly relayed: readonly string[]
  /** An unknown observer was removed for this one: subscriptions in its name receive nothing any more. */
  readonly hasDisplaced: boolean
  /** Streams, as the room page names them. */
  readonly feeds = new RoomFeeds(() => this.#changed())
  readonly #publications = new Map<string, Publication>()
  readonly #handle: JanusHandle
  readonly #changed: () => void
  readonly #ended: (why: string, isLost: boolean) => void
  readonly #gone: (signal: AbortSignal) => Promise<void>
  #isOver = false

  private constructor(handle: JanusHandle, joined: Joined, { node, changed, ended }: ObserverOptions) {
    this.#gone = (signal) => gone(node, joined.record, signal)
    this.#handle = handle
    this.#changed = changed
    this.#ended = ended
    const { admission, hasDisplaced, answer } = joined
    this.hasDisplaced = hasDisplaced
    this.credentials = { ...admission, private_id: answer.private_id }
    const present = [...answer.publishers, ...answer.attendees].map(({ id }) => id)
    this.relayed = present.filter((id) => node.ids.streamOf(id) !== undefined)
    for (const publisher of answer.publishers) this.#note(publisher)
    this.feeds.take(answer)
  }

  /**
   * Joins; the observer before leaves first, which ends no subscription in its name: Janus stops those only for a removed one.
   * @throws NodeError; JanusError noRoom; as JanusSocket.request; the signal's reason
   */
  static async join(options: ObserverOptions, signal: AbortSignal): Promise<RoomObserver> {
    const { node, roomId } = options
    const participant = { roomId, id: node.ids.observer }
    const session = await node.session(signal)
    const admission = await node.admit(participant, signal)
    const before = node.records.observer(node.name, roomId)
    if (before?.session === session.id) await leftBy(session.handle(before.handle), signal)
    const handle = await session.attach('janus.plugin.videoroom', signal, opaqueId)
    const record = { node: node.name, room_id: roomId, session: session.id, handle: handle.id, joined_at: Date.now() }
    node.records.putObserver(record)
    // Keeps events between the answer and its reading.
    const early: HandleEvent[] = []
    let observer: RoomObserver | undefined
    handle.onEvent((event) => (observer === undefined ? early.push(event) : observer.#hear(event)))
    try {
      const body = { request: 'join', ptype: 'publisher', room: roomId, id: participant.id, ...admission }
      let hasDisplaced = false
      const { data } = await unlessTaken(
        () => handle.request(body, signal),
        () => {
          hasDisplaced = true
          return node.clear(participant, signal)
        },
      )
      const answer = joinedSchema.safeParse(data)
      if (!answer.success) throw new NodeError('its VideoRoom plugin answered in a form that is not known')
      observer = new RoomObserver(handle, { admission, hasDisplaced, answer: answer.data, record }, options)
    } catch (error) {
      // In a lost session, the next claimant removes it.
      if (session.isOpen) mustNotFail(node.detach(record, never).then(() => node.records.deleteObserver(record)))
      throw error
    }
    for (const event of early) observer.#hear(event)
    return observer
  }

  /** Whether it left, or was removed. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Publishers of the room. */
  get publications(): ReadonlyMap<string, Publication> {
    return this.#publications
  }

  /** It leaves. Never rejects: who does not answer ends the session by itself. */
  async leave(signal: AbortSignal): Promise<void> {
    this.#isOver = true
    await this.#gone(signal)
  }

  #hear(event: HandleEvent): void {
    if (this.#isOver) return
    if (event.type === 'detached') return this.#end(event.reason, !this.#handle.session.isOpen)
    if (event.type !== 'plugin') return
    const read = changeSchema.safeParse(event.data)
    if (!read.success) return
    const { videoroom, publishers, unpublished, leaving, kicked } = read.data
    this.feeds.take(event.data)
    // In the event of one's own leaving, `ok` stands in the place of an id.
    if (videoroom === 'destroyed' || leaving === 'ok') {
      this.#handle.drop()
      return this.#end('it was removed from the room', false)
    }
    for (const publisher of publishers) this.#note(publisher)
    for (const id of [unpublished, leaving, kicked]) if (typeof id === 'string') this.#publications.delete(id)
    this.#changed()
  }

  #note({ id, display, streams }: z.output<typeof publisherSchema>): void {
    const form = JSON.stringify(streams.map(({ type, mid, codec, disabled }) => [type, mid, codec, disabled]))
    const known = this.#publications.get(id)
    if (known?.form === form && known.display === display) return
    this.#publications.set(id, { id, display, form, since: performance.now() })
  }

  #end(why: string, isLost: boolean): void {
    this.#isOver = true
    this.#publications.clear()
    this.feeds.clear()
    this.#ended(why, isLost)
  }
}

/** How an observer came in. */
interface Joined {
  admission: Readonly<Record<string, unknown>>
  hasDisplaced: boolean
  answer: z.output<typeof joinedSchema>
  record: StoredRelayObserver
}

/** An observer of before is out when this resolves: that a handle is detached Janus says a moment before its plugin knows. @throws as JanusSocket.request */
async function leftBy(handle: JanusHandle | undefined, signal: AbortSignal): Promise<void> {
  try {
    await handle?.request({ request: 'leave' }, signal)
  } catch (error) {
    // It had left, or is gone.
    if (!isRefusal(error)) throw error
  }
  await handle?.detach(signal)
}

/** It goes, with what let it in. Never rejects. */
async function gone(node: RelayNode, record: StoredRelayObserver, signal: AbortSignal): Promise<void> {
  await node.detach(record, signal)
  if (!node.records.deleteObserver(record)) return
  // An id that stays reserved is released with the node.
  await node.release({ roomId: record.room_id, id: node.ids.observer }, signal).catch(() => {})
}

/** Needs of an observer. */
export interface ObserverOptions {
  node: RelayNode
  roomId: string
  /** Somebody publishes, or no longer. */
  changed: () => void
  /** Called once, unless it left. @param isLost it may still be in the room: the connection to the node was lost */
  ended: (why: string, isLost: boolean) => void
}

/** Joins; where one of the same id is there, which can only be left over from a connection of before, it goes first. @throws what either throws */
export async function unlessTaken<T>(join: () => Promise<T>, clear: () => Promise<void>): Promise<T> {
  try {
    return await join()
  } catch (error) {
    if (!isJanusError(error, janusCodes.idTaken)) throw error
    await clear()
    return await join()
  }
}
