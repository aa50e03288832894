import { randomBytes } from 'node:crypto'
import type { CameraSource } from '../../../shared/device-address.ts'
import type { Person, StreamSource, ToPerson } from '../../../shared/media/signal.ts'
import type { CameraLease } from '../feeds/camera-pulls.ts'
import type { Publisher } from '../webrtc/publisher.ts'
import type { Viewer } from '../webrtc/viewer.ts'

/** Somebody in a room, in the words of the controller's port. */
export interface RoomUser {
  userId: string
  userName: string
  device: boolean
  role: 'host' | 'member'
  /** Came by the room's number alone. */
  byNumber: boolean
  joinedAt: number
}

/** Somebody who was admitted: see `identity.ts`. */
export interface Identity {
  userId: string
  userName: string
  role: 'host' | 'member'
  /** They have proven the id: a second arrival takes the place of the first. Otherwise the node has just made it. */
  proven: boolean
  /** They are host because they gave the host password: their pass says so, too. */
  byPassword: boolean
  /** The node made the id, and their pass proves it. */
  passProves: boolean
  /** Link and address that guests share places by; undefined for hosts and whoever has a link of their own. */
  guest: string | undefined
  /** Of the link of this user alone, or of the browser of somebody who had no such link; undefined when there was neither. */
  tokenId: string | undefined
  byNumber: boolean
  /** They have shown that they were in this room: neither a lock nor a host keeps them waiting. */
  wasIn: boolean
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

/** Media that somebody sends to, or receives from, another node. */
export interface RemoteMedia {
  end(): void
  /** It goes on there, without this program. */
  leave(): void
  /** Of what is watched. */
  streamId?: string
  /** Told how high its picture is shown, in device pixels. */
  show?(height: number): void
}

/** What a member is made of besides the user. */
export type MemberParts = Partial<Pick<Identity, 'tokenId' | 'passProves' | 'guest' | 'byPassword' | 'ticket'>> & {
  device?: DeviceHold | undefined
}

/** Messages kept for somebody whose connection was lost: so many, of so many characters in all. */
const maxKept = 100
const maxKeptText = 512 * 1024

/** Somebody in a room with everything that is theirs. */
export class Member {
  readonly user: RoomUser
  readonly tokenId: string | undefined
  readonly device: DeviceHold | undefined
  /** See Identity. */
  readonly passProves: boolean
  readonly guest: string | undefined
  byPassword: boolean
  /** Secret of this person alone: resumes the signalling, and opens WHIP and WHEP. */
  readonly session = randomBytes(24).toString('base64url')
  readonly publications = new Map<StreamSource, Publisher>()
  /** What they watch, with its stream. */
  readonly #viewers = new Map<Viewer, string>()
  /** Heights at which their page shows streams, in device pixels; of one that is not named nothing is known. */
  #shown: ReadonlyMap<string, number> = new Map()
  readonly #kept: ToPerson[] = []
  #keptText = 0
  /** What they send and watch on another node, in a room with remote media. */
  readonly remoteMedia = new Map<string, RemoteMedia>()
  /** What of their camera and microphone a host has muted, in a room with remote media. */
  readonly silenced = new Set<'audio' | 'video'>()
  /** In a room with remote media, and not through this program: the controller reports when they come and go. */
  isRemote = false
  /** Remote, without a proven id: removing them affects nobody who has proven it. */
  unproven = false
  link: PersonLink | undefined
  /** While the connection is lost and may come back: calls off that they are out when it does not. */
  cancelAway: (() => void) | undefined
  audio = false
  video = false
  /** Raised: the lower, the earlier; 0: not. */
  hand = 0
  /** They have come by signalling: in a room where a host lets people in, one did. */
  met = false
  /** See `Identity.ticket`. */
  readonly ticket: string

  constructor(user: RoomUser, { device, tokenId, passProves, guest, byPassword, ticket }: MemberParts = {}) {
    this.user = user
    this.device = device
    this.tokenId = tokenId
    this.passProves = passProves ?? false
    this.guest = guest
    this.byPassword = byPassword ?? false
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
      this.remoteMedia.size === 0 &&
      this.link === undefined &&
      this.cancelAway === undefined &&
      this.publications.size === 0 &&
      this.viewers.size === 0
    )
  }

  get person(): Person {
    const { userId, userName, role, device, joinedAt } = this.user
    return {
      user_id: userId,
      user_name: userName,
      role,
      device,
      joined_at: joinedAt,
      audio: device || this.audio,
      video: device || this.video,
      away: this.cancelAway !== undefined,
      hand: this.hand,
    }
  }

  get viewers(): ReadonlyMap<Viewer, string> {
    return this.#viewers
  }

  /** Somebody watches a stream. */
  watch(viewer: Viewer, streamId: string): void {
    this.#viewers.set(viewer, streamId)
    this.#tellShown(viewer, streamId)
  }

  unwatch(viewer: Viewer): void {
    this.#viewers.delete(viewer)
  }

  /** Their page says how high it shows each stream, in device pixels; 0: not at all. Takes the place of what it said before. */
  show(heights: ReadonlyMap<string, number>): void {
    this.#shown = heights
    for (const [viewer, streamId] of this.#viewers) this.#tellShown(viewer, streamId)
    for (const media of this.remoteMedia.values()) {
      if (media.streamId !== undefined) media.show?.(heights.get(media.streamId) ?? Infinity)
    }
  }

  /** How high their page shows a stream, in device pixels; undefined where nothing is known. */
  heightOf(streamId: string): number | undefined {
    return this.#shown.get(streamId)
  }

  send(message: ToPerson): void {
    this.link?.send(message)
  }

  /** Sends, or keeps it until the person is back. */
  sendOrKeep(message: ToPerson): void {
    if (this.link !== undefined) this.link.send(message)
    else if (this.cancelAway !== undefined && this.#kept.length < maxKept) this.#keep(message)
  }

  /** They are not away, or not any more. */
  back(): void {
    this.cancelAway?.()
    this.cancelAway = undefined
  }

  /** What was kept, once. */
  takeKept(): ToPerson[] {
    this.#keptText = 0
    return this.#kept.splice(0)
  }

  /** Ends their remote media. @param goesOn only this program lets go of it */
  endRemote(goesOn = false): void {
    const open = [...this.remoteMedia.values()]
    this.remoteMedia.clear()
    for (const media of open) {
      if (goesOn) media.leave()
      else media.end()
    }
  }

  #tellShown(viewer: Viewer, streamId: string): void {
    viewer.shown(this.#shown.get(streamId) ?? Infinity)
  }

  #keep(message: ToPerson): void {
    const length = JSON.stringify(message).length
    if (this.#keptText + length > maxKeptText) return
    this.#keptText += length
    this.#kept.push(message)
  }

  /** Ends their signalling, what they watch and the share in their camera. @param goesOn remote media goes on there */
  disconnect(last: ToPerson | undefined, goesOn = false): void {
    this.back()
    const { link } = this
    this.link = undefined
    if (last !== undefined) link?.send(last)
    link?.close()
    for (const viewer of [...this.viewers.keys()]) viewer.close()
    this.endRemote(goesOn)
    this.device?.lease.release()
  }
}
