import { shallowReactive } from 'vue'
import type { RoomStream, StreamSize } from '../../../shared/media/signal.ts'
import { LivePlayer } from '../../kit/media/live-player.ts'
import { MediaRefusal } from '../../kit/media/media-refusal.ts'
import { httpExchange, type OfferExchange } from '../../kit/media/sdp-exchange.ts'
import type { MediaKind } from '../../kit/media/whep-session.ts'
import type { Measured } from './measuring.ts'
import { type RemoteMedia, remoteMedia } from './remote-media.ts'
import { Unsure } from './unsure.ts'

/** Requested size of a stream. */
type PictureSize = 'full' | 'small'

/** Height in device pixels below which the substream is sufficient. */
const smallPixels = 270

/**
 * Up to this number of streams, all are connected. In larger rooms a stream is connected only while it is visible or
 * its user speaks, and for some milliseconds afterwards.
 */
const maxUnseen = 24
const idleMs = 5_000

/** URL of the WHEP endpoint. */
export interface WatchEndpoint {
  /** Origin of the node, e.g. `http://10.0.0.5:7082`. */
  origin: string
  roomId: string
  session: string
  iceServers: RTCIceServer[]
}

interface Watched {
  stream: RoomStream
  size: PictureSize
  /** Undefined while the stream is neither visible nor audible. */
  player: LivePlayer | undefined
  /** Time since which the stream is not needed, in milliseconds since the epoch; 0: needed. */
  idleSince: number
  /** Player of another size, which replaces `player` at its first picture, so that the change does not flicker. */
  next: { player: LivePlayer; size: PictureSize } | undefined
}

/** All streams of the room that the node sends to this browser (WHEP). */
export class Watching {
  readonly media = shallowReactive(new Map<string, RemoteMedia>())
  readonly #watched = new Map<string, Watched>()
  #endpoint: WatchEndpoint | undefined
  readonly #unsure = new Unsure()
  #voices: ReadonlySet<string> = new Set()
  #timer: ReturnType<typeof setTimeout> | undefined

  /** Ticket with which another node can continue one of the sessions; empty: none. */
  get ticket(): string {
    for (const { player } of this.#watched.values())
      if (player !== undefined && player.ticket !== '') return player.ticket
    return ''
  }

  /** Changes the endpoint. @param goesOn another node continues the sessions if possible; otherwise all start again */
  enter(endpoint: WatchEndpoint, goesOn: boolean): void {
    const before = this.#endpoint
    this.#endpoint = endpoint
    if (before === undefined || before.session === endpoint.session) return
    if (!goesOn) return this.clear()
    for (const [streamId, watched] of this.#watched) void this.#move(streamId, watched)
  }

  /** Starts a new session beside one that cannot continue; it replaces the old one at its first picture. */
  async #move(streamId: string, watched: Watched): Promise<void> {
    const { player, size, stream } = watched
    const media = this.media.get(streamId)
    dropNext(watched)
    if (player === undefined || media === undefined) return
    const way = this.#wayTo(stream, size)
    if (way === undefined || (await player.moveTo(way)) || watched.player !== player) return
    if (watched.next !== undefined || this.#watched.get(streamId) !== watched) return
    this.#prepare(watched, size, media)
  }

  /**
   * Adds a stream. One with the same id replaces the earlier one.
   * @param seen assumed visibility until the page reports the height
   */
  add(stream: RoomStream, seen = this.#watched.size < maxUnseen): void {
    this.#unsure.delete(stream.stream_id)
    const before = this.#watched.get(stream.stream_id)
    if (before !== undefined) {
      const stands = before.player === undefined || before.player.connection !== undefined
      if (same(before.stream, stream) && stands) {
        before.stream = stream
        return this.#connect()
      }
      this.remove(stream.stream_id)
    }
    const media = remoteMedia(stream.stream_id, stream.user_id, stream.source, stream.converted)
    media.seen = seen
    this.media.set(stream.stream_id, media)
    if (this.#endpoint === undefined) return
    this.#watched.set(stream.stream_id, { stream, size: 'full', player: undefined, idleSince: 0, next: undefined })
    this.#connect()
  }

  /** Sets the users whose sound must be available at once. */
  hear(voices: ReadonlySet<string>): void {
    this.#voices = voices
    this.#connect()
  }

  /** @param known the node ended the stream, so it needs no notification */
  remove(streamId: string, known = false): void {
    const watched = this.#watched.get(streamId)
    this.#watched.delete(streamId)
    this.media.delete(streamId)
    watched?.player?.close(known)
    watched?.next?.player.close(known)
  }

  /** Connects needed streams; closes those that were not needed for a while. */
  #connect(): void {
    const all = this.#watched.size <= maxUnseen
    const now = Date.now()
    let idle = false
    for (const [id, watched] of this.#watched) {
      const media = this.media.get(id)
      if (media === undefined) continue
      if (all || this.#wants(watched, media)) {
        watched.idleSince = 0
        watched.player ??= this.#play(watched, watched.size, media)
      } else if (watched.player !== undefined) {
        watched.idleSince ||= now
        if (now - watched.idleSince < idleMs) idle = true
        else disconnect(watched, media)
      }
    }
    clearTimeout(this.#timer)
    this.#timer = idle ? setTimeout(() => this.#connect(), idleMs) : undefined
  }

  /**
   * Returns whether a stream must be connected. Sound without a reported level always is, because silence cannot be
   * detected.
   */
  #wants({ stream }: Watched, { seen }: RemoteMedia): boolean {
    if (seen || this.#voices.has(stream.user_id)) return true
    return stream.audio_codec !== '' && !stream.tells_level
  }

  /**
   * Removes all other streams. @param settles the node may not have all streams yet: missing ones are removed later
   * unless the node reports them
   */
  keep(streams: readonly RoomStream[], settles: boolean): void {
    const ids = new Set(streams.map(({ stream_id }) => stream_id))
    const others = [...this.#watched.keys()].filter((id) => !ids.has(id))
    if (settles) this.#unsure.begin(others, (left) => left.forEach((id) => this.remove(id)))
    else for (const id of others) this.remove(id)
    for (const stream of streams) this.add(stream, streams.length <= maxUnseen)
  }

  /** Sets the displayed height of a stream, in device pixels. Uses the substream if it is sufficient. */
  show(streamId: string, height: number): void {
    const watched = this.#watched.get(streamId)
    const media = this.media.get(streamId)
    if (watched === undefined || media === undefined || watched.stream.video_codec === '') return
    const appears = height > 0 && !media.seen
    media.seen = height > 0
    // Nothing is sent of a hidden stream, so its size stays.
    if (!media.seen) return this.#connect()
    const size = height < smallPixels && watched.stream.small ? 'small' : 'full'
    if (watched.player === undefined) watched.size = size
    if (appears) this.#connect()
    if ((watched.next?.size ?? watched.size) === size) return
    dropNext(watched)
    if (watched.size !== size) this.#prepare(watched, size, media)
  }

  /** Stores the parts of a stream that the node sends. */
  sent(streamId: string, size: StreamSize): void {
    const media = this.media.get(streamId)
    if (media !== undefined) media.sent = size
  }

  clear(): void {
    this.#unsure.clear()
    for (const id of [...this.#watched.keys()]) this.remove(id)
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Lists the media to measure. */
  *measured(): Iterable<Measured> {
    for (const [id, { player }] of this.#watched) {
      const media = this.media.get(id)
      if (media !== undefined && player !== undefined) yield { media, connection: player.connection }
    }
  }

  /** Starts a player that replaces the current one at its first picture. */
  #prepare(watched: Watched, size: PictureSize, media: RemoteMedia): void {
    const player = this.#play(watched, size, media)
    if (player !== undefined) watched.next = { player, size }
  }

  #play(watched: Watched, size: PictureSize, media: RemoteMedia): LivePlayer | undefined {
    const { stream } = watched
    const way = this.#wayTo(stream, size)
    if (way === undefined) return undefined
    const kinds: MediaKind[] = []
    if (stream.video_codec !== '') kinds.push('video')
    if (stream.audio_codec !== '') kinds.push('audio')
    let tracks: [MediaStreamTrack | null, MediaStreamTrack | null] = [null, null]
    const isCurrent = (): boolean => watched.player === player
    const player: LivePlayer = new LivePlayer(way, kinds, {
      tracks: (video, audio) => {
        tracks = [video, audio]
        if (isCurrent()) [media.video, media.audio] = tracks
      },
      state: (state, problem) => {
        if (state === 'closed') return
        if (isCurrent()) {
          media.state = state
          media.problem = problem instanceof MediaRefusal ? problem.reason : ''
        } else if (state === 'connected') {
          void firstPicture(tracks[0]).then(() => this.#takeOver(stream.stream_id, player, tracks))
        } else if (state === 'refused') {
          if (watched.next?.player === player) dropNext(watched)
        }
      },
    })
    return player
  }

  #wayTo({ stream_id }: RoomStream, size: PictureSize): OfferExchange | undefined {
    const endpoint = this.#endpoint
    if (endpoint === undefined) return undefined
    const { origin, roomId, session, iceServers } = endpoint
    const path = `/whep/${encodeURIComponent(roomId)}/${encodeURIComponent(stream_id)}`
    return httpExchange(`${origin}${path}${size === 'small' ? '?size=small' : ''}`, session, iceServers)
  }

  #takeOver(
    streamId: string,
    player: LivePlayer,
    [video, audio]: [MediaStreamTrack | null, MediaStreamTrack | null],
  ): void {
    const watched = this.#watched.get(streamId)
    const media = this.media.get(streamId)
    if (watched?.next?.player !== player || media === undefined) return
    const { size } = watched.next
    const before = watched.player
    watched.player = player
    watched.size = size
    watched.next = undefined
    media.video = video
    media.audio = audio
    media.state = 'connected'
    // The node starts a new session with the full picture.
    media.sent = 'full'
    before?.close()
  }
}

/** Maximum wait for a picture, in milliseconds. */
const pictureMs = 3_000

/** Resolves at the first picture of a track. */
function firstPicture(track: MediaStreamTrack | null): Promise<void> {
  if (track === null) return Promise.resolve()
  return new Promise((resolve) => {
    const video = document.createElement('video')
    const done = (): void => {
      clearTimeout(timer)
      video.srcObject = null
      resolve()
    }
    const timer = setTimeout(done, pictureMs)
    video.muted = true
    video.autoplay = true
    video.playsInline = true
    video.addEventListener('loadeddata', done, { once: true })
    video.srcObject = new MediaStream([track])
  })
}

/** Closes the player that was to replace the current one. */
function dropNext(watched: Watched): void {
  watched.next?.player.close()
  watched.next = undefined
}

function disconnect(watched: Watched, media: RemoteMedia): void {
  dropNext(watched)
  watched.player?.close()
  watched.player = undefined
  Object.assign(media, { video: null, audio: null, state: 'connecting', problem: '' })
}

function same(one: RoomStream, other: RoomStream): boolean {
  return one.video_codec === other.video_codec && one.audio_codec === other.audio_codec && one.small === other.small
}
