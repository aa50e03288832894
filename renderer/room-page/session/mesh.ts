import { shallowReactive } from 'vue'
import type { RelayPayload, StreamSource } from '../../../shared/media/signal.ts'
import type { Measured } from './measuring.ts'
import { PeerLink, type ReceivedTracks, type SentTracks } from './peer-link.ts'
import { type RemoteMedia, remoteMedia } from './remote-media.ts'

/** Total bitrate to all users, in bit/s, and the minimum for each. */
const outgoingBitrate = 4_000_000
const minBitrate = 300_000
/** Maximum number of users who receive the full size: each copy is encoded separately. */
const maxWhole = 2

export interface MeshOptions {
  ownId: string
  iceServers: RTCIceServer[]
  relay: (to: string, payload: RelayPayload) => void
}

/** Direct connections to all users of a peer-to-peer room. A user who joins sends offers to those who are present. */
export class Mesh {
  readonly media = shallowReactive(new Map<string, RemoteMedia>())
  readonly #links = new Map<string, PeerLink>()
  #options: MeshOptions | undefined
  #sent: SentTracks = { audio: null, video: null, screen: null }

  /** Starts after a join or rejoin: sends offers to all present users. */
  enter(options: MeshOptions, people: readonly string[]): void {
    this.clear()
    this.#options = options
    for (const userId of people) this.#link(userId, true)
  }

  /** Handles a reconnection: closes connections to users who have left meanwhile. */
  keep(people: readonly string[]): void {
    const ids = new Set(people)
    for (const userId of [...this.#links.keys()]) if (!ids.has(userId)) this.remove(userId)
  }

  /** Sends these tracks to everybody from now on. */
  send(sent: SentTracks): void {
    this.#sent = sent
    for (const link of this.#links.values()) void link.send(sent)
  }

  /** Handles a message that a user sent through the node. */
  received(from: string, payload: unknown): void {
    if (!isPayload(payload)) return
    if (payload.kind === 'bye') return this.remove(from)
    const present = this.#links.get(from)
    const begins = payload.kind === 'offer' && (present === undefined || present.isNew(payload.sdp))
    if (begins && present !== undefined) this.remove(from)
    const link = begins ? this.#link(from, false) : present
    link?.receive(payload)
  }

  /** Closes the connection to a user who left. */
  remove(userId: string): void {
    this.#links.get(userId)?.close()
    this.#links.delete(userId)
    this.media.delete(userId)
    this.media.delete(screenOf(userId))
    this.#share()
  }

  clear(): void {
    for (const userId of [...this.#links.keys()]) this.remove(userId)
  }

  /** Lists the media to measure. */
  *measured(): Iterable<Measured> {
    for (const media of this.media.values()) {
      yield { media, connection: this.#links.get(media.userId)?.connection }
    }
  }

  #link(userId: string, first: boolean): PeerLink | undefined {
    const options = this.#options
    if (options === undefined) return undefined
    this.media.set(userId, remoteMedia(userId, userId, 'main'))
    const link: PeerLink = new PeerLink({
      iceServers: options.iceServers,
      first,
      polite: options.ownId < userId,
      sent: this.#sent,
      listener: {
        send: (payload) => {
          if (this.#links.get(userId) === link || !this.#links.has(userId)) options.relay(userId, payload)
        },
        tracks: (tracks) => {
          if (this.#links.get(userId) === link) this.#show(userId, tracks)
        },
        state: (state) => {
          if (this.#links.get(userId) === link) this.#stateChanged(userId, state)
        },
      },
    })
    this.#links.set(userId, link)
    return link
  }

  /** Divides the bitrate among all users. */
  #share(): void {
    const count = this.#links.size
    const bitrate = Math.max(minBitrate, Math.round(outgoingBitrate / Math.max(1, count)))
    for (const link of this.#links.values()) void link.limit(bitrate, count > maxWhole ? 2 : 1)
  }

  #show(userId: string, { audio, video, screen }: ReceivedTracks): void {
    const main = this.media.get(userId)
    if (main !== undefined) {
      main.audio = audio
      main.video = video
    }
    const id = screenOf(userId)
    if (screen === null) return void this.media.delete(id)
    const shown = this.media.get(id) ?? remoteMedia(id, userId, 'screen' satisfies StreamSource)
    shown.video = screen
    shown.state = main?.state ?? 'connected'
    this.media.set(id, shown)
  }

  #stateChanged(userId: string, state: RTCPeerConnectionState): void {
    const shown =
      state === 'connected' ? 'connected' : state === 'new' || state === 'connecting' ? 'connecting' : 'waiting'
    for (const id of [userId, screenOf(userId)]) {
      const media = this.media.get(id)
      if (media !== undefined) media.state = shown
    }
  }
}

function screenOf(userId: string): string {
  return `${userId}~screen`
}

/** Narrows the type of a payload, which the node has validated. */
function isPayload(value: unknown): value is RelayPayload {
  return typeof value === 'object' && value !== null && 'kind' in value
}
