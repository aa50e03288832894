import { z } from 'zod'
import { NodeError } from '../../media-node.ts'
import { isJanusError, janusCodes } from '../janus-error.ts'
import type { HandleEvent, JanusHandle } from '../janus-handle.ts'
import { RoomFeeds } from '../people/room-feeds.ts'
import type { RelayNode } from './relay-node.ts'

/** Somebody publishes in a room. Another object is another publication, even of the same participant. */
export interface Publication {
  id: string
  /** The name that is shown. */
  display: string
  /** What it consists of: where this changes, whoever hands it on begins anew. */
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

/** What Janus's events name it by. */
const opaqueId = 'roomdesk-relay'
const never = new AbortController().signal

/**
 * A participant of ours in a room of one node, who publishes nothing: it is told who publishes there, and its number lets us subscribe where rooms ask for one
 * (`require_pvtid`).
 */
export class RoomObserver {
  /** In whose name we subscribe in the room: fields of such a join. */
  readonly credentials: Readonly<Record<string, unknown>>
  /** Participants of relays that were there before it came, from a connection of before: they are no publications. */
  readonly leftovers: readonly string[]
  /** What is published, in the words of the room page. */
  readonly feeds = new RoomFeeds(() => this.#changed())
  readonly #publications = new Map<string, Publication>()
  readonly #handle: JanusHandle
  readonly #changed: () => void
  readonly #ended: (why: string) => void
  readonly #release: (signal: AbortSignal) => Promise<void>
  #isOver = false

  private constructor(
    handle: JanusHandle,
    joined: z.output<typeof joinedSchema>,
    { node, roomId, changed, ended }: ObserverOptions,
    admission: Readonly<Record<string, unknown>>,
  ) {
    this.#release = (signal) => node.release({ roomId, id: node.ids.observer }, signal)
    this.#handle = handle
    this.#changed = changed
    this.#ended = ended
    this.credentials = { ...admission, private_id: joined.private_id }
    const isLeftover = ({ id }: { id: string }): boolean => node.ids.streamOf(id) !== undefined
    this.leftovers = [...joined.publishers, ...joined.attendees].filter(isLeftover).map(({ id }) => id)
    for (const publisher of joined.publishers) if (!isLeftover(publisher)) this.#note(publisher)
    this.feeds.take(joined)
  }

  /** Joins. @throws NodeError; JanusError noRoom; as JanusSocket.request; the signal's reason */
  static async join(options: ObserverOptions, signal: AbortSignal): Promise<RoomObserver> {
    const { node, roomId } = options
    const participant = { roomId, id: node.ids.observer }
    const session = await node.session(signal)
    const admission = await node.admit(participant, signal)
    const handle = await session.attach('janus.plugin.videoroom', signal, opaqueId)
    // What is told between the answer and its reading is not lost.
    const early: HandleEvent[] = []
    let observer: RoomObserver | undefined
    handle.onEvent((event) => (observer === undefined ? early.push(event) : observer.#hear(event)))
    try {
      const body = { request: 'join', ptype: 'publisher', room: roomId, id: participant.id, ...admission }
      const { data } = await unlessTaken(
        () => handle.request(body, signal),
        () => node.clear(participant, signal),
      )
      const joined = joinedSchema.safeParse(data)
      if (!joined.success) throw new NodeError('its VideoRoom plugin answered in a form that is not known')
      observer = new RoomObserver(handle, joined.data, options, admission)
    } catch (error) {
      handle.detach(never).catch(() => {})
      throw error
    }
    for (const event of early) observer.#hear(event)
    return observer
  }

  /** It left, or was put out. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Who publishes. */
  get publications(): ReadonlyMap<string, Publication> {
    return this.#publications
  }

  /** It leaves. Never rejects: who does not answer ends the session by itself. */
  async leave(signal: AbortSignal): Promise<void> {
    this.#isOver = true
    await this.#handle.detach(signal).catch(() => {})
    await this.#release(signal).catch(() => {})
  }

  #hear(event: HandleEvent): void {
    if (this.#isOver) return
    if (event.type === 'detached') return this.#end(event.reason)
    if (event.type !== 'plugin') return
    const read = changeSchema.safeParse(event.data)
    if (!read.success) return
    const { videoroom, publishers, unpublished, leaving, kicked } = read.data
    this.feeds.take(event.data)
    // To be told that one is out oneself is told with `ok` in the place of an id.
    if (videoroom === 'destroyed' || leaving === 'ok') {
      this.#handle.detach(never).catch(() => {})
      return this.#end('it was taken out of the room')
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

  #end(why: string): void {
    this.#isOver = true
    this.#publications.clear()
    this.feeds.clear()
    this.#ended(why)
  }
}

/** What an observer is made of. */
export interface ObserverOptions {
  node: RelayNode
  roomId: string
  /** Somebody publishes, or no longer. */
  changed: () => void
  /** Called once, unless it left. */
  ended: (why: string) => void
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
