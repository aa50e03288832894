import type { CameraSource } from '../../../shared/device-address.ts'
import type { Person, StreamSource, ToPerson } from '../../../shared/media/signal.ts'
import type { CameraLease } from '../feeds/camera-pulls.ts'
import type { Publisher } from '../webrtc/publisher.ts'
import type { Viewer } from '../webrtc/viewer.ts'
import { newSessionKey } from './session-key.ts'

/** A user in a room, as reported to the controller. */
export interface RoomUser {
  userId: string
  userName: string
  device: boolean
  role: 'host' | 'member'
  /** Whether the user joined with the room number alone. */
  byNumber: boolean
  /** Order of the raised hand: lower numbers were raised earlier; 0: not raised. */
  hand: number
  joinedAt: number
}

/** An admitted user: see `identity.ts`. */
export interface Identity {
  userId: string
  userName: string
  /** Whether the name comes from the link; omitted: the user typed the name. */
  named?: boolean
  role: 'host' | 'member'
  /** Whether the id is proven, so that a second arrival replaces the first. False: the node has just made the id. */
  proven: boolean
  /** Whether the user is host because of the host password. The user's pass records this. */
  byPassword: boolean
  /** Whether the node made the id, so that the user's pass proves it. */
  passProves: boolean
  /** Key of link and address by which guests are counted; undefined for hosts and users with a personal link. */
  guest: string | undefined
  /** Id of the user's personal link; without such a link, id of the browser; undefined if neither is known. */
  tokenId: string | undefined
  byNumber: boolean
  /** Whether the user has proven that they were in this room before. A lock or a waiting room then does not apply. */
  wasIn: boolean
  /** Id of the join link that was used; omitted: the user joined by the host password or the number. */
  linkId?: string | undefined
  /** Ticket of remote media that the user had before joining through this process; omitted or empty: none. */
  ticket?: string
}

export interface DeviceHold {
  /** Identifies camera and login. Adding a device with the same key has no effect. */
  key: string
  lease: CameraLease
  /** Second, smaller stream; undefined if the camera has none. */
  second: CameraSource | undefined
}

/** Parts of a member's identity that later decisions depend on. */
export type MemberEntry = Partial<
  Pick<Identity, 'tokenId' | 'passProves' | 'guest' | 'byPassword' | 'linkId' | 'ticket'>
>

/** Microphone and camera of a person. */
export interface LiveMedia {
  audio: boolean
  video: boolean
  /** Kinds of media that a host has muted, in a room with remote media. */
  readonly silenced: Set<'audio' | 'video'>
}

/** A member of a room with their connections and media. */
export class RoomMember {
  readonly user: RoomUser
  readonly device: DeviceHold | undefined
  readonly entry: MemberEntry
  /** Secret of this session. It resumes the signalling and authorizes WHIP and WHEP. */
  readonly session = newSessionKey()
  readonly signalling = new MemberSignalling()
  readonly publications = new Map<StreamSource, Publisher>()
  readonly watched = new WatchedStreams()
  readonly live: LiveMedia = { audio: false, video: false, silenced: new Set() }
  /**
   * Set in a room with remote media if the user joined through another process. The controller then reports arrival and
   * departure. If the id is not proven, a removal must not ban the id. undefined: the user joined through this process.
   */
  remote: { proven: boolean } | undefined

  constructor(user: RoomUser, entry: MemberEntry = {}, device?: DeviceHold) {
    this.user = user
    this.device = device
    this.entry = { ...entry }
  }

  /** Standing for authorization. A camera has no rights in the room. */
  get standing(): 'camera' | 'member' | 'host' {
    return this.user.device ? 'camera' : this.user.role
  }

  /** Whether the member has no connection left. */
  get gone(): boolean {
    return (
      this.device === undefined &&
      this.remote === undefined &&
      this.signalling.isOver &&
      this.publications.size === 0 &&
      this.watched.isEmpty
    )
  }

  get person(): Person {
    const { userId, userName, role, device, joinedAt, hand } = this.user
    return {
      user_id: userId,
      user_name: userName,
      role,
      device,
      joined_at: joinedAt,
      audio: device || this.live.audio,
      video: device || this.live.video,
      away: this.signalling.isAway,
      hand,
    }
  }

  /** Continues as the same user's earlier member. */
  takeOver({ live, signalling }: RoomMember): void {
    const { audio, video, silenced } = live
    Object.assign(this.live, { audio, video })
    for (const kind of silenced) this.live.silenced.add(kind)
    this.signalling.hasConnected = signalling.hasConnected
  }

  /**
   * Ends the member's signalling, watched streams and camera lease.
   * @param goesOn whether remote media continues on its node
   */
  disconnect(last: ToPerson | undefined, goesOn = false): void {
    this.signalling.end(last)
    this.watched.end(goesOn)
    this.device?.lease.release()
  }
}

/** Media that a person sends to, or receives from, another node. */
export interface RemoteMedia {
  end(): void
  /** Releases the media in this process while it continues on the other node. */
  leave(): void
  /** Id of the watched stream; omitted for sent media. */
  streamId?: string
  /** Sets the height at which the page shows the picture, in device pixels. */
  show?(height: number): void
}

/** Streams that one person watches, on this node and another, with the heights at which their page shows them. */
class WatchedStreams {
  /** Stream ids of the viewers on this server. */
  readonly #viewers = new Map<Viewer, string>()
  /** Heights by stream id, in device pixels. The height of a stream without an entry is unknown. */
  #heights: ReadonlyMap<string, number> = new Map()
  /** Media sent and watched on another node, in a room with remote media. */
  readonly remote = new Map<string, RemoteMedia>()

  get viewers(): ReadonlyMap<Viewer, string> {
    return this.#viewers
  }

  /** Whether nothing is watched, and nothing is sent to another node. */
  get isEmpty(): boolean {
    return this.#viewers.size === 0 && this.remote.size === 0
  }

  add(viewer: Viewer, streamId: string): void {
    this.#viewers.set(viewer, streamId)
    viewer.shown(this.heightOf(streamId) ?? Infinity)
  }

  delete(viewer: Viewer): void {
    this.#viewers.delete(viewer)
  }

  /** Sets the heights at which the page shows streams, in device pixels; 0: hidden. Replaces all earlier heights. */
  show(heights: ReadonlyMap<string, number>): void {
    this.#heights = heights
    for (const [viewer, streamId] of this.#viewers) viewer.shown(heights.get(streamId) ?? Infinity)
    for (const media of this.remote.values())
      if (media.streamId !== undefined) media.show?.(heights.get(media.streamId) ?? Infinity)
  }

  /** Height at which the page shows a stream, in device pixels; undefined if unknown. */
  heightOf(streamId: string): number | undefined {
    return this.#heights.get(streamId)
  }

  /**
   * Ends the remote media.
   * @param goesOn whether the media continues on its node and is only released in this process
   */
  endRemote(goesOn = false): void {
    const open = [...this.remote.values()]
    this.remote.clear()
    for (const media of open) {
      if (goesOn) media.leave()
      else media.end()
    }
  }

  /** Ends all watched streams and remote media. @param goesOn as in `endRemote` */
  end(goesOn: boolean): void {
    for (const viewer of [...this.#viewers.keys()]) viewer.close()
    this.endRemote(goesOn)
  }
}

/** Limits of the messages kept for a person whose connection was lost: their number, and their total number of characters. */
const maxKept = 100
const maxKeptText = 512 * 1024

export interface PersonLink {
  send(message: ToPerson): void
  /** Closes the connection after the pending messages are sent. */
  close(): void
}

/**
 * State of the connection. `none`: not connected; `away`: the connection was lost and may return until a timer expires.
 */
type Connection = { state: 'none' } | { state: 'connected'; link: PersonLink } | { state: 'away'; cancel: () => void }

/** Signalling connection of a person, and the messages kept while it is lost. */
class MemberSignalling {
  #connection: Connection = { state: 'none' }
  readonly #kept: ToPerson[] = []
  #keptText = 0
  /**
   * Whether the person has had a signalling connection. In a room with a waiting room, this means that they were
   * admitted.
   */
  hasConnected = false

  send(message: ToPerson): void {
    this.link?.send(message)
  }

  /** Sends a message, or keeps it while the person is away. Above the limits, further messages are dropped. */
  sendOrKeep(message: ToPerson): void {
    if (this.link !== undefined) return this.link.send(message)
    if (!this.isAway || this.#kept.length >= maxKept) return
    const { length } = JSON.stringify(message)
    if (this.#keptText + length > maxKeptText) return
    this.#keptText += length
    this.#kept.push(message)
  }

  /** Returns and removes the kept messages, in order. */
  takeKept(): ToPerson[] {
    this.#keptText = 0
    return this.#kept.splice(0)
  }

  /** Open connection; undefined while there is none. */
  get link(): PersonLink | undefined {
    return this.#connection.state === 'connected' ? this.#connection.link : undefined
  }

  /** Whether the connection was lost and may return. */
  get isAway(): boolean {
    return this.#connection.state === 'away'
  }

  /** Whether there is no connection, and none is expected back. */
  get isOver(): boolean {
    return this.#connection.state === 'none'
  }

  /** Sets the connection, ends an absence, and closes an earlier connection. */
  connect(link: PersonLink): void {
    const before = this.link
    this.#become({ state: 'connected', link })
    this.hasConnected = true
    before?.send({ type: 'removed', reason: 'replaced' })
    before?.close()
  }

  /** Marks the connection as lost. @param cancel stops the timer that ends the absence */
  goAway(cancel: () => void): void {
    this.#become({ state: 'away', cancel })
  }

  /** Ends an absence that exceeded its time limit. */
  expire(): void {
    this.#connection = { state: 'none' }
  }

  /** Closes the connection. @param last message to send first */
  end(last: ToPerson | undefined): void {
    const { link } = this
    this.#become({ state: 'none' })
    if (last !== undefined) link?.send(last)
    link?.close()
  }

  #become(connection: Connection): void {
    if (this.#connection.state === 'away') this.#connection.cancel()
    this.#connection = connection
  }
}
