import type { StreamSource } from '../../../shared/media/signal.ts'
import type { Member } from '../rooms/member.ts'
import type { Room } from '../rooms/room.ts'
import type { Offer } from '../webrtc/offer.ts'
import type { OpenedSession, OpenMedia } from './open-session.ts'

/** Input of a publication. */
export interface PublishInput {
  source: StreamSource
  offer: Offer
  /** The offer as it came. */
  text: string
  /** Address of the client. */
  remote: string
}

/** Input of a viewer. */
export interface WatchInput {
  streamId: string
  /** Undefined where the other end is asked to offer. */
  offer: Offer | undefined
  /** Height at which the picture is going to be shown, in device pixels. */
  height: number | undefined
  /** The smaller picture will do, where there is one. */
  small: boolean
  /** Address of the client. */
  remote: string
}

/** Input of a session that goes on. */
export interface ResumeInput {
  /** Own stream, or the one that is watched. */
  streamId: string
  sends: boolean
  height: number | undefined
  ticket: string
  /** The browser's description of its end. */
  sdp: string
  /** Address of the client. */
  remote: string
}

/** Media of rooms, as WHIP and WHEP open it: that of this server, or that of another node. What a session holds belongs to its `OpenMedia`. */
export interface WhipWhepMedia {
  /** It offers to viewers, and resumes sessions of earlier programs. */
  readonly isRemote: boolean
  /** @throws Problem codec, badOffer, busy, tooManyVideos, tooManyAudios, noRoom, noSession */
  publish(open: OpenMedia, who: { room: Room; member: Member }, input: PublishInput): Promise<OpenedSession>
  /** Checks what is known before a viewer enters. @throws Problem mediaType, noStream */
  assertWatchable(room: Room, input: WatchInput): void
  /** @param who `member` undefined: unseen @throws Problem mediaType, codec, badOffer, busy, noStream, noRoom, noSession, tooMany */
  watch(open: OpenMedia, who: { room: Room; member: Member | undefined }, input: WatchInput): Promise<OpenedSession>
  /** @throws Problem noSession where it does not go on, noRoom, busy */
  resume(open: OpenMedia, who: { room: Room; member: Member }, input: ResumeInput): Promise<OpenedSession>
}
