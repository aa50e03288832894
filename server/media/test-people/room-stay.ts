import type PQueue from 'p-queue'
import type { RoomStream, ToPerson } from '../../../shared/media/signal.ts'
import type { TestPeopleSpec } from '../../../shared/media/test-people.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { Lifetime } from '../base/lifetime.ts'
import { ClipPublisher } from './clip-publisher.ts'
import type { LinkLoss, SessionAddress } from './node-connection.ts'
import { type PersonEntry, PersonSession } from './person-session.ts'
import { StreamViewer } from './stream-viewer.ts'

/** End of a stay. `again`: the node is gone or busy, and the person tries again. `elsewhere`: the room is on the node at `url`. */
export type StayEnd =
  | { kind: 'left' | 'removed' }
  | { kind: 'refused' | 'again'; reason: string }
  | { kind: 'elsewhere'; url: URL }

/** Dependencies of a stay on its person. */
interface StayOwner {
  spec: Pick<TestPeopleSpec, 'send' | 'simulcast' | 'watch'>
  loss: LinkLoss
  /** Opens a few connections at a time: more would delay each other. */
  opening: PQueue
  isTalking: () => boolean
  /** Called when the person joins or waits for admission. */
  onState: (state: 'present' | 'waiting') => void
  /** Called with the reason of a failed connection. */
  onProblem: (reason: string) => void
}

/** Time until a failed connection is opened again, in milliseconds. */
const againMs = 2_000
/** Displayed heights in pixels: of the first watched stream, and of the others. */
const largeTile = 360
const smallTile = 180
/** Reasons of a refusal that ends by itself. */
const passing: ReadonlySet<string> = new Set(['busy', 'notOpenYet', 'tooMany'])

/** One stay of a person in a room, from the join to the end: signalling, one publication, and watched streams. */
export class RoomStay {
  readonly #entry: PersonEntry
  readonly #owner: StayOwner
  readonly #session: PersonSession
  readonly #lifetime = new Lifetime((error) => this.#end({ kind: 'again', reason: String(error) }))
  readonly #ended = Promise.withResolvers<StayEnd>()
  /** Streams of others, in order of their arrival. */
  readonly #streams = new Map<string, RoomStream>()
  /** Watched streams; undefined: the connection is being opened. */
  readonly #viewers = new Map<string, StreamViewer | undefined>()
  #publisher: ClipPublisher | undefined
  #key = ''
  #userId = ''
  readonly #muted = { audio: false, video: false }
  /** Packets of connections that have ended. */
  readonly #earlier = { sent: 0, received: 0, lost: 0 }

  constructor(entry: PersonEntry, owner: StayOwner) {
    this.#entry = entry
    this.#owner = owner
    this.#session = new PersonSession(entry, {
      message: this.#lifetime.guard((message: ToPerson) => this.#take(message)),
      closed: () => this.#end({ kind: 'again', reason: 'the node closed the connection' }),
    })
  }

  /** Resolves when the stay ends. */
  get ended(): Promise<StayEnd> {
    return this.#ended.promise
  }

  get counts(): { sent: number; received: number; lost: number } {
    const counts = { ...this.#earlier }
    counts.sent += this.#publisher?.sent ?? 0
    for (const viewer of this.#viewers.values()) {
      counts.received += viewer?.counts.received ?? 0
      counts.lost += viewer?.counts.lost ?? 0
    }
    return counts
  }

  /** Leaves the room. Idempotent. */
  leave(): void {
    this.#end({ kind: 'left' })
  }

  #end(end: StayEnd): void {
    if (this.#lifetime.over) return
    this.#lifetime.end()
    this.#session.leave()
    this.#publisher?.close()
    for (const viewer of this.#viewers.values()) viewer?.close()
    this.#ended.resolve(end)
  }

  #take(message: ToPerson): void {
    switch (message.type) {
      case 'joined':
        return this.#joined(message)
      case 'waiting':
        return this.#owner.onState('waiting')
      case 'refused':
        return this.#refused(message)
      case 'stream_added':
        if (message.stream.user_id !== this.#userId) this.#streams.set(message.stream.stream_id, message.stream)
        return this.#watchMore()
      case 'stream_removed':
        this.#streams.delete(message.stream_id)
        return this.#viewers.get(message.stream_id)?.close()
      case 'muted':
        this.#muted[message.kind] = true
        return this.#sendState()
      case 'removed':
        return this.#end(
          message.reason === 'restarting' ? { kind: 'again', reason: 'the node restarts' } : { kind: 'removed' },
        )
      default:
      // A test person ignores all other messages.
    }
  }

  #joined({ session, you, room, streams }: Extract<ToPerson, { type: 'joined' }>): void {
    this.#key = session
    this.#userId = you.user_id
    this.#owner.onState('present')
    this.#sendState()
    // Its people connect with each other, which these clients do not.
    if (room.peer_to_peer) return this.#owner.onProblem('a peer-to-peer room has no media on the node')
    for (const stream of streams) if (stream.user_id !== you.user_id) this.#streams.set(stream.stream_id, stream)
    if (this.#owner.spec.send !== 'nothing') mustNotFail(this.#publish())
    this.#watchMore()
  }

  #refused({ reason, message, url }: Extract<ToPerson, { type: 'refused' }>): void {
    const node = url === undefined ? null : URL.parse(url)
    if (node !== null) return this.#end({ kind: 'elsewhere', url: node })
    this.#end({ kind: passing.has(reason) ? 'again' : 'refused', reason: message })
  }

  #sendState(): void {
    const { send } = this.#owner.spec
    const audio = send !== 'nothing' && !this.#muted.audio
    this.#session.send({ type: 'state', audio, video: send === 'clip' && !this.#muted.video })
  }

  /** Never rejects. */
  async #publish(): Promise<void> {
    const { spec, loss, opening, isTalking, onProblem } = this.#owner
    try {
      const publisher = await opening.add(async () => {
        if (this.#lifetime.over) return undefined
        return await ClipPublisher.open(this.#address(`whip/${encodeURIComponent(this.#entry.roomId)}`), spec, loss, {
          isTalking: () => isTalking() && !this.#muted.audio,
          isHidden: () => this.#muted.video,
        })
      })
      if (publisher === undefined) return
      if (this.#lifetime.over) return publisher.close()
      this.#publisher = publisher
      publisher.onEnd(() => {
        this.#earlier.sent += publisher.sent
        this.#publisher = undefined
        this.#publishAgain()
      })
    } catch (error) {
      onProblem(reasonOf(error))
      this.#publishAgain()
    }
  }

  #publishAgain(): void {
    this.#lifetime.after(againMs, () => mustNotFail(this.#publish()))
  }

  /** Opens connections until the person watches as many streams as it should, or all. */
  #watchMore(): void {
    for (const id of this.#streams.keys()) {
      if (this.#viewers.size >= this.#owner.spec.watch) return
      if (this.#viewers.has(id)) continue
      this.#viewers.set(id, undefined)
      mustNotFail(this.#watch(id))
    }
  }

  /** Never rejects. */
  async #watch(id: string): Promise<void> {
    const { loss, opening, onProblem } = this.#owner
    try {
      const viewer = await opening.add(async () => {
        if (this.#lifetime.over || !this.#streams.has(id)) return undefined
        const path = `whep/${encodeURIComponent(this.#entry.roomId)}/${encodeURIComponent(id)}`
        return await StreamViewer.open(this.#address(path), loss)
      })
      if (viewer === undefined) return this.#forget(id)
      if (this.#lifetime.over || !this.#streams.has(id)) {
        viewer.close()
        return this.#forget(id)
      }
      this.#viewers.set(id, viewer)
      viewer.onEnd(() => {
        this.#earlier.received += viewer.counts.received
        this.#earlier.lost += viewer.counts.lost
        this.#forget(id)
      })
      this.#sendShown()
    } catch (error) {
      // A stream that has just ended is no problem.
      if (this.#streams.has(id)) onProblem(reasonOf(error))
      this.#forget(id)
    }
  }

  #forget(id: string): void {
    this.#viewers.delete(id)
    this.#lifetime.after(againMs, () => this.#watchMore())
  }

  /** Reports the displayed heights, from which the node chooses the layer of simulcast. */
  #sendShown(): void {
    const streams = Array.from(this.#viewers.keys(), (stream_id, index) => ({
      stream_id,
      height: index === 0 ? largeTile : smallTile,
    }))
    this.#session.send({ type: 'shown', streams })
  }

  #address(path: string): SessionAddress {
    const { node, trust } = this.#entry
    return { url: new URL(`${node.href.replace(/\/$/, '')}/${path}`), token: this.#key, trust }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
