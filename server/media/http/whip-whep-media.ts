import type { StreamSource } from '../../../shared/media/signal.ts'
import type { RoomMember } from '../rooms/member.ts'
import type { Room } from '../rooms/room.ts'
import type { Offer } from '../webrtc/offer.ts'
import type { OpenedMediaSession, OpenMedia } from './open-session.ts'

export interface PublishInput {
  source: StreamSource
  offer: Offer
  /** Offer as received. */
  text: string
  remote: string
}

export interface WatchInput {
  streamId: string
  /** Offer of the viewer; undefined: the node makes the offer. */
  offer: Offer | undefined
  /** Height at which the picture will be shown, in device pixels; undefined: unknown. */
  height: number | undefined
  /** Whether to send the camera's smaller picture, if the camera has one. */
  small: boolean
  remote: string
}

export interface ResumeInput {
  /** Stream that the member publishes or watches. */
  streamId: string
  sends: boolean
  height: number | undefined
  ticket: string
  /** The browser's session description. */
  sdp: string
  remote: string
}

/**
 * Media of rooms as opened by WHIP and WHEP, on this server or another node. Resources of a session belong to its
 * `OpenMedia`.
 */
export interface WhipWhepMedia {
  /** Whether the media is on another node, which makes offers to viewers and can resume sessions of other processes. */
  readonly isRemote: boolean
  /** @throws Problem codec, badOffer, busy, tooManyVideos, tooManyAudios, noRoom, noSession */
  publish(open: OpenMedia, who: { room: Room; member: RoomMember }, input: PublishInput): Promise<OpenedMediaSession>
  /** Checks a request before its viewer enters the room. @throws Problem mediaType, noStream */
  assertWatchable(room: Room, input: WatchInput): void
  /**
   * @param who `member` undefined: an observer, whom the room does not show
   * @throws Problem mediaType, codec, badOffer, busy, noStream, noRoom, noSession, tooMany
   */
  watch(
    open: OpenMedia,
    who: { room: Room; member: RoomMember | undefined },
    input: WatchInput,
  ): Promise<OpenedMediaSession>
  /** @throws Problem noSession if the session cannot be resumed; noRoom, busy */
  resume(open: OpenMedia, who: { room: Room; member: RoomMember }, input: ResumeInput): Promise<OpenedMediaSession>
}
