import type { CameraSource } from '../../../shared/device-address.ts'
import type { Person, StreamSource, ToPerson } from '../../../shared/media/signal.ts'
import type { CameraLease } from '../feeds/camera-pulls.ts'
import type { Publisher } from '../webrtc/publisher.ts'
import { newSessionKey } from './session-key.ts'
import { WatchedStreams } from './watched-streams.ts'

/** Limits of the messages kept for a person whose connection was lost: their number, and their total number of characters. */
const maxKept = 100
const maxKeptText = 512 * 1024

/** A user in a room, as reported to the controller. */
export interface RoomUser {
  userId: string
  userName: string
  device: boolean
  role: 'host' | 'member'
  /** The user joined with the room number alone. */
  byNumber: boolean
  /** Order of the raised hand: lower numbers were raised earlier; 0: not raised. */
  hand: number
  joinedAt: number
}

/** An admitted user: see `identity.ts`. */
export interface Identity {
  userId: string
  userName: string
  /** The name comes from the link; omitted: the user typed it. */
  named?: boolean
  role: 'host' | 'member'
  /** The id is proven, so a second arrival replaces the first. Otherwise the node has just made the id. */
  proven: boolean
  /** The user is host because of the host password. Their pass records this. */
  byPassword: boolean
  /** The node made the id, and the user's pass proves it. */
  passProves: boolean
  /** Link and address by which places of guests are counted; undefined for hosts and users with a link of their own. */
  guest: string | undefined
  /** Id of the user's own link, or of the browser of a user without such a link; undefined if there is neither. */
  tokenId: string | undefined
  byNumber: boolean
  /** The user has proven that they were in this room before, so a lock or a waiting room does not apply. */
  wasIn: boolean
  /** Id of the join link that was used; omitted: the user joined by the host password or the number. */
  linkId?: string | undefined
  /** Ticket of remote media from before the user came to this process; omitted or empty: there is none. */
  ticket?: string
}

export interface PersonLink {
  send(message: ToPerson): void
  /** Closes the connection after pending messages were sent. */
  close(): void
}

export interface DeviceHold {
  /** Identifies camera and login. Adding a device with the same key has no effect. */
  key: string
  lease: CameraLease
  /** Second, smaller stream; undefined if the camera has none. */
  second: CameraSource | undefined
}

export type MemberDependencies = Partial<
  Pick<Identity, 'tokenId' | 'passProves' | 'guest' | 'byPassword' | 'linkId' | 'ticket'>
> & {
  device?: DeviceHold | undefined
}

/**
 * Signalling connection of a person. `none`: not connected yet, or no longer; `away`: the connection was lost and may
 * return until a timer expires.
 */
type Signalling = { state: 'none' } | { state: 'connected'; link: PersonLink } | { state: 'away'; cancel: () => void }

/** A member of a room with their connections and media. */
export class RoomMember {
  readonly user: RoomUser
  readonly tokenId: string | undefined
  readonly device: DeviceHold | undefined
  /** See Identity. */
  readonly passProves: boolean
  readonly guest: string | undefined
  readonly linkId: string | undefined
  byPassword: boolean
  /** Secret of this session. It resumes the signalling and authorizes WHIP and WHEP. */
  readonly session = newSessionKey()
  readonly publications = new Map<StreamSource, Publisher>()
  readonly watched = new WatchedStreams()
  /** Messages kept until the person is back. */
  readonly kept = new KeptMessages()
  /** Kinds of media that a host has muted, in a room with remote media. */
  readonly silenced = new Set<'audio' | 'video'>()
  /**
   * In a room with remote media: the user joined through another process, and the controller reports when they come and
   * go.
   */
  isRemote = false
  /** Remote user without a proven id. Removing them must not ban the id. */
  unproven = false
  #signalling: Signalling = { state: 'none' }
  audio = false
  video = false
  /** Earliest time of the next reaction by the rate limit, in milliseconds. */
  reactsFrom = 0
  /** The person has connected by signalling. In a room with a waiting room, a host has admitted them. */
  met = false
  /** See `Identity.ticket`. */
  readonly ticket: string

  constructor(
    user: RoomUser,
    { device, tokenId, passProves, guest, byPassword, linkId, ticket }: MemberDependencies = {},
  ) {
    this.user = user
    this.device = device
    this.tokenId = tokenId
    this.passProves = passProves ?? false
    this.guest = guest
    this.byPassword = byPassword ?? false
    this.linkId = linkId
    this.ticket = ticket ?? ''
  }

  /** Standing for authorization. A camera has no rights in the room. */
  get standing(): 'camera' | 'member' | 'host' {
    return this.user.device ? 'camera' : this.user.role
  }

  /** Whether the member has no connection left. */
  get gone(): boolean {
    return (
      this.device === undefined &&
      !this.isRemote &&
      this.link === undefined &&
      !this.away &&
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
      audio: device || this.audio,
      video: device || this.video,
      away: this.away,
      hand,
    }
  }

  send(message: ToPerson): void {
    this.link?.send(message)
  }

  /** Sends a message, or keeps it while the person is away. */
  sendOrKeep(message: ToPerson): void {
    if (this.link !== undefined) this.link.send(message)
    else if (this.away) this.kept.add(message)
  }

  /** Signalling connection; undefined while there is none. */
  get link(): PersonLink | undefined {
    return this.#signalling.state === 'connected' ? this.#signalling.link : undefined
  }

  /** Whether the connection was lost and may come back. */
  get away(): boolean {
    return this.#signalling.state === 'away'
  }

  /** Sets the signalling connection and ends an absence. */
  connect(link: PersonLink): void {
    this.#leave()
    this.#signalling = { state: 'connected', link }
  }

  /** Marks the connection as lost. @param cancel stops the timer that ends the absence */
  goAway(cancel: () => void): void {
    this.#leave()
    this.#signalling = { state: 'away', cancel }
  }

  /** Ends an absence that took too long. */
  expire(): void {
    this.#signalling = { state: 'none' }
  }

  #leave(): void {
    if (this.#signalling.state === 'away') this.#signalling.cancel()
  }

  /**
   * Ends the member's signalling, watched streams and camera lease.
   * @param goesOn remote media continues on its node
   */
  disconnect(last: ToPerson | undefined, goesOn = false): void {
    const { link } = this
    this.#leave()
    this.#signalling = { state: 'none' }
    if (last !== undefined) link?.send(last)
    link?.close()
    this.watched.end(goesOn)
    this.device?.lease.release()
  }
}

/** Messages for a person whose connection was lost, until they return. Above the limits, further messages are dropped. */
class KeptMessages {
  readonly #messages: ToPerson[] = []
  #length = 0

  add(message: ToPerson): void {
    if (this.#messages.length >= maxKept) return
    const { length } = JSON.stringify(message)
    if (this.#length + length > maxKeptText) return
    this.#length += length
    this.#messages.push(message)
  }

  /** Returns and removes the kept messages, in order. */
  take(): ToPerson[] {
    this.#length = 0
    return this.#messages.splice(0)
  }
}
