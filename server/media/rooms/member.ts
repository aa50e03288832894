import type { CameraSource } from '../../../shared/device-address.ts'
import type { Person, StreamSource, ToPerson } from '../../../shared/media/signal.ts'
import type { CameraLease } from '../feeds/camera-pulls.ts'
import type { Publisher } from '../webrtc/publisher.ts'
import { newSessionKey } from './session-key.ts'
import { WatchedStreams } from './watched-streams.ts'

/** Limits of the messages kept for a person whose connection was lost: their number, and their total number of characters. */
const maxKept = 100
const maxKeptText = 512 * 1024

/** Somebody in a room, in the words of the controller's port. */
export interface RoomUser {
  userId: string
  userName: string
  device: boolean
  role: 'host' | 'member'
  /** Came by the room's number alone. */
  byNumber: boolean
  /** Raised: the lower, the earlier; 0: not. */
  hand: number
  joinedAt: number
}

/** Somebody who was admitted: see `identity.ts`. */
export interface Identity {
  userId: string
  userName: string
  /** Their link has the name; left out: they typed it. */
  named?: boolean
  role: 'host' | 'member'
  /** They have proven the id: a second arrival takes the place of the first. Otherwise the node has just made it. */
  proven: boolean
  /** They are host because they gave the host password: their pass says so, too. */
  byPassword: boolean
  /** The node made the id, and their pass proves it. */
  passProves: boolean
  /** Link and address that guests share places by; undefined for hosts and users with a link of their own. */
  guest: string | undefined
  /** Id of the user's own link, or of the browser of a user without one; undefined when there was neither. */
  tokenId: string | undefined
  byNumber: boolean
  /** They have shown that they were in this room: neither a lock nor a host keeps them waiting. */
  wasIn: boolean
  /** Id of the join link by which they came; left out: they came by the host password or the number. */
  linkId?: string | undefined
  /** Ticket of remote media that they sent or watched before they came to this program; left out, or empty: there is none. */
  ticket?: string
}

/** The signalling connection of a person. */
export interface PersonLink {
  send(message: ToPerson): void
  /** Ends it after what was sent. */
  close(): void
}

/** A camera that is in the room. */
export interface DeviceHold {
  /** Names camera and login: the same one again changes nothing. */
  key: string
  lease: CameraLease
  /** Its second, smaller stream; undefined when it has none. */
  second: CameraSource | undefined
}

/** Parts of a member besides the user. */
export type MemberParts = Partial<
  Pick<Identity, 'tokenId' | 'passProves' | 'guest' | 'byPassword' | 'linkId' | 'ticket'>
> & {
  device?: DeviceHold | undefined
}

/**
 * Signalling connection of a person. `none`: not yet, or no longer; `away`: lost, and may come back until a timer runs out.
 */
type Signalling = { state: 'none' } | { state: 'connected'; link: PersonLink } | { state: 'away'; cancel: () => void }

/**
 * Somebody in a room with everything that is theirs.
 */
export class Member {
  readonly user: RoomUser
  readonly tokenId: string | undefined
  readonly device: DeviceHold | undefined
  /** See Identity. */
  readonly passProves: boolean
  readonly guest: string | undefined
  readonly linkId: string | undefined
  byPassword: boolean
  /** Secret of this person alone: resumes the signalling, and opens WHIP and WHEP. */
  readonly session = newSessionKey()
  readonly publications = new Map<StreamSource, Publisher>()
  readonly watched = new WatchedStreams()
  /** Messages for them until they are back. */
  readonly kept = new KeptMessages()
  /** Kinds of their media that a host has muted, in a room with remote media. */
  readonly silenced = new Set<'audio' | 'video'>()
  /** In a room with remote media, and not through this program: the controller reports when they come and go. */
  isRemote = false
  /** Remote, without a proven id: removing them affects nobody who has proven it. */
  unproven = false
  #signalling: Signalling = { state: 'none' }
  audio = false
  video = false
  /** Time from which the pace of their reactions allows the next one, in milliseconds. */
  reactsFrom = 0
  /** They have come by signalling: in a room where a host lets people in, one did. */
  met = false
  /** See `Identity.ticket`. */
  readonly ticket: string

  constructor(user: RoomUser, { device, tokenId, passProves, guest, byPassword, linkId, ticket }: MemberParts = {}) {
    this.user = user
    this.device = device
    this.tokenId = tokenId
    this.passProves = passProves ?? false
    this.guest = guest
    this.byPassword = byPassword ?? false
    this.linkId = linkId
    this.ticket = ticket ?? ''
  }

  /** Towards the room: a camera has no more rights in it than nobody. */
  get standing(): 'camera' | 'member' | 'host' {
    return this.user.device ? 'camera' : this.user.role
  }

  /** Nothing of them is connected any more. */
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

  /** Sends, or keeps it until the person is back. */
  sendOrKeep(message: ToPerson): void {
    if (this.link !== undefined) this.link.send(message)
    else if (this.away) this.kept.add(message)
  }

  /** Their signalling connection; undefined while there is none. */
  get link(): PersonLink | undefined {
    return this.#signalling.state === 'connected' ? this.#signalling.link : undefined
  }

  /** The connection is lost and may come back. */
  get away(): boolean {
    return this.#signalling.state === 'away'
  }

  /** The connection is up: ends an absence. */
  connect(link: PersonLink): void {
    this.#leave()
    this.#signalling = { state: 'connected', link }
  }

  /** The connection is lost. @param cancel stops the timer that ends the absence */
  goAway(cancel: () => void): void {
    this.#leave()
    this.#signalling = { state: 'away', cancel }
  }

  /** The absence took too long. */
  expire(): void {
    this.#signalling = { state: 'none' }
  }

  #leave(): void {
    if (this.#signalling.state === 'away') this.#signalling.cancel()
  }

  /** Ends their signalling, what they watch and the share in their camera. @param goesOn remote media goes on there */
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

  /** Returns the messages in their order, once. */
  take(): ToPerson[] {
    this.#length = 0
    return this.#messages.splice(0)
  }
}
