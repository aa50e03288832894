import type { CameraSource } from '../../../shared/device-address.ts'
import type { Person, StreamSource, ToPerson } from '../../../shared/media/signal.ts'
import type { CameraLease } from '../feeds/camera-pulls.ts'
import type { Publisher } from '../webrtc/publisher.ts'
import { MemberSignalling } from './member-signalling.ts'
import { newSessionKey } from './session-key.ts'
import { WatchedStreams } from './watched-streams.ts'

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
