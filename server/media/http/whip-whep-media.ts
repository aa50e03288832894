import type { StreamSource } from '../../../shared/media/signal.ts'
import { Problem } from '../base/problem.ts'
import type { RoomMember } from '../rooms/member.ts'
import type { Room } from '../rooms/room.ts'
import type { Offer } from '../webrtc/offer.ts'
import type { MediaSession, MediaSessions } from './media-sessions.ts'

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

/** A session, and the session description to send to its client. */
export interface OpenedMediaSession {
  session: MediaSession
  /** Answer to the client's offer, or an offer of the node if `offers` is set; empty if there is nothing to answer. */
  sdp: string
  /** Whether `sdp` is an offer. */
  offers?: boolean
  /** Ticket with which another process can resume the session; empty or omitted if it cannot be resumed. */
  ticket?: string
}

/**
 * Owns the resources of an opening or open session. Releases each resource once, in reverse order, when it is closed.
 */
export class OpenMedia {
  readonly #closers: (() => void)[] = []
  #closed = false

  /** Releases all resources. Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const close of this.#closers.splice(0).reverse()) close()
  }

  /** Registers a release function; calls it at once if the session is closed. */
  onClose(close: () => void): void {
    if (this.#closed) close()
    else this.#closers.push(close)
  }

  /**
   * Calls `run`, which opens the session.
   * @throws errors of `run`, after all resources were released; Problem noStream if the session was closed meanwhile
   */
  async take<T>(run: () => Promise<T>): Promise<T> {
    try {
      const taken = await run()
      if (this.#closed) throw new Problem('noStream')
      return taken
    } catch (error) {
      this.close()
      throw error
    }
  }
}

/**
 * Opens a session of a client at an address.
 * @throws errors of `run`, after all resources were released; Problem tooMany
 */
export async function open(
  { sessions }: { sessions: Pick<MediaSessions, 'reserve'> },
  address: string,
  run: (media: OpenMedia) => Promise<OpenedMediaSession>,
): Promise<OpenedMediaSession> {
  const media = new OpenMedia()
  media.onClose(sessions.reserve(address))
  return await media.take(async () => await run(media))
}
