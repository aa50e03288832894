import { z } from 'zod'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import type { StoredRelayObserver } from '../../../store/records.ts'
import { isNodeRefusal, NodeError } from '../../port/media-node-port.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import type { HandleEvent, JanusHandle } from '../wire/janus-handle.ts'
import { RoomFeeds } from '../people/room-feeds.ts'
import type { RelayNode } from './relay-node.ts'

/** A participant's stream in a room. When the participant publishes again, a new object is created. */
export interface ObservedPublication {
  id: string
  display: string
  /** Tracks of the stream, as JSON. If they change, the stream is relayed again. */
  form: string
  /** Time at which the publication was first reported, in milliseconds of `performance.now()`. */
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

/**
 * A participant of the controller in a room of one node. The observer receives the list of publishers, and publishes
 * nothing. Its private id permits subscriptions in rooms that require a private id (`require_pvtid`).
 */
export class RoomObserver {
  /** Fields of a subscriber's join request that identify the observer. */
  readonly credentials: Readonly<Record<string, unknown>>
  /** Relay participants that were in the room before the observer. */
  readonly relayed: readonly string[]
  /**
   * Whether an unknown observer had to be removed first. Janus then stops the subscriptions that used that observer's
   * id.
   */
  readonly hasDisplaced: boolean
  /** Streams in the form of the room page. */
  readonly feeds = new RoomFeeds(() => this.#changed())
  readonly #publications = new Map<string, ObservedPublication>()
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
   * Joins the room. The previous observer leaves first. Janus keeps the subscriptions that use the id of an observer
   * that left, but stops those of an observer that was removed.
   * @throws NodeError; JanusError noRoom; the errors of JanusSocket.request; the signal's reason
   */
  static async join(options: ObserverOptions, signal: AbortSignal): Promise<RoomObserver> {
    const { node, roomId } = options
    const participant = { roomId, id: node.ids.observer }
    const session = await node.session.get(signal)
    const admission = await node.participants.admit(participant, signal)
    const before = node.records.observer(node.name, roomId)
    if (before?.session === session.id) await leftBy(session.handle(before.handle), signal)
    const handle = await session.attach('janus.plugin.videoroom', signal, opaqueId)
    const record = { node: node.name, room_id: roomId, session: session.id, handle: handle.id, joined_at: Date.now() }
    node.records.putObserver(record)
    // Keeps events that arrive before the answer is handled.
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
          return node.participants.clear(participant, signal)
        },
      )
      const answer = joinedSchema.safeParse(data)
      if (!answer.success) throw new NodeError('its VideoRoom plugin answered in a form that is not known')
      observer = new RoomObserver(handle, { admission, hasDisplaced, answer: answer.data, record }, options)
    } catch (error) {
      // If the session was lost, the next claimant removes the handle.
      if (session.isOpen)
        mustNotFail(node.session.detach(record, never).then(() => node.records.deleteObserver(record)))
      throw error
    }
    for (const event of early) observer.#hear(event)
    return observer
  }

  /** Returns whether the observer left or was removed. */
  get isOver(): boolean {
    return this.#isOver
  }

  get publications(): ReadonlyMap<string, ObservedPublication> {
    return this.#publications
  }

  /** Leaves the room. Never rejects: on a node that does not answer, the handle ends with its session. */
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
    // When the observer itself leaves, Janus sends `ok` instead of an id.
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

interface Joined {
  admission: Readonly<Record<string, unknown>>
  hasDisplaced: boolean
  answer: z.output<typeof joinedSchema>
  record: StoredRelayObserver
}

/**
 * Makes the previous observer leave. The explicit request is necessary because Janus reports a handle as detached
 * shortly before its plugin removes the participant.
 * @throws the errors of JanusSocket.request
 */
async function leftBy(handle: JanusHandle | undefined, signal: AbortSignal): Promise<void> {
  try {
    await handle?.request({ request: 'leave' }, signal)
  } catch (error) {
    // The observer had left already, or its handle no longer exists.
    if (!isNodeRefusal(error)) throw error
  }
  await handle?.detach(signal)
}

/** Removes an observer and its admission. Never rejects. */
async function gone(node: RelayNode, record: StoredRelayObserver, signal: AbortSignal): Promise<void> {
  await node.session.detach(record, signal)
  if (!node.records.deleteObserver(record)) return
  // If the release fails, the id stays reserved until the node is removed.
  await node.participants.release({ roomId: record.room_id, id: node.ids.observer }, signal).catch(() => {})
}

export interface ObserverOptions {
  node: RelayNode
  roomId: string
  /** Called when the publishers changed. */
  changed: () => void
  /**
   * Called once if the observer ended without a call of `leave`.
   * @param isLost whether the connection to the node was lost; the observer may then still be in the room
   */
  ended: (why: string, isLost: boolean) => void
}

/**
 * Calls `join`. If the id is taken, calls `clear`, and then `join` again. A participant with the same id can only be
 * left over from an earlier connection.
 * @throws the error of `join` or `clear`
 */
export async function unlessTaken<T>(join: () => Promise<T>, clear: () => Promise<void>): Promise<T> {
  try {
    return await join()
  } catch (error) {
    if (!isJanusError(error, janusCodes.idTaken)) throw error
    await clear()
    return await join()
  }
}
