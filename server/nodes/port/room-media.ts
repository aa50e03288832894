import type { MediaRefusalName } from '../../../shared/media/remote-media.ts'
import type { StreamSource } from '../../../shared/media/signal.ts'

/** Somebody who comes into a room through the room page. */
export interface PagePerson {
  roomId: string
  userId: string
  userName: string
  role: 'host' | 'member'
  /** By the room's number alone. */
  byNumber?: boolean | undefined
}

/** What is published in a room. */
export interface RemoteFeed {
  userId: string
  source: StreamSource
  /** Empty for none. */
  videoCodec: string
  audioCodec: string
  /** It is passed on to nobody: a host has silenced it. */
  videoMuted: boolean
  audioMuted: boolean
  /** Its sound tells how loud it is, and whether that is speech now. */
  tellsLevel: boolean
  speaks: boolean
}

/** What somebody asks to watch. */
export interface WatchWish {
  roomId: string
  /** Undefined: unseen. */
  userId: string | undefined
  /** Whose stream. */
  feedId: string
  /** How high its picture is shown, in device pixels; left out: not known. */
  height?: number | undefined
  /** The smaller picture is wanted, where there is one. */
  small?: boolean | undefined
}

/** What somebody sends or watches since before this program or controller had to do with it. */
export interface ClaimWish {
  roomId: string
  userId: string
  /** The participant that publishes it. */
  feedId: string
  /** They send it; otherwise they watch it. */
  sends: boolean
  height?: number | undefined
  ticket: string
  /** Description of the browser's end. */
  sdp: string
}

/** What is not to be passed on of what somebody's camera and microphone send, or is again. */
export interface MuteWish {
  roomId: string
  userId: string
  kind: 'audio' | 'video'
  muted: boolean
}

/** Event about people who came through the page. */
export type RoomMediaEvent =
  /** What is published in a room, as far as somebody of ours is in it. */
  | { type: 'feeds'; roomId: string }
  /** Somebody is no longer in the room, or could not join it; nobody asked for that. */
  | { type: 'out'; roomId: string; userId: string; error: unknown }
  /** Media is over; nobody asked for that. */
  | { type: 'over'; session: string }

/** The media of rooms on one node, for people whose page another program shows. What a request rejects with is told apart by `refusalOf`. */
export interface RoomMedia {
  /** @param ticket of media that they send or watch already, by an earlier program or controller: their stay goes on with it; empty: there is none */
  enter(person: PagePerson, ticket: string): void
  leave(roomId: string, userId: string): Promise<void>
  /** @returns the name of the session, the answer for the browser, and the ticket with which it can go on later; empty where it cannot */
  publish(
    wish: { roomId: string; userId: string; source: StreamSource; offer: string },
    signal: AbortSignal,
  ): Promise<{ session: string; answer: string; ticket: string }>
  /** @returns the name of the session, what is offered to the browser, and the ticket as above */
  watch(wish: WatchWish, signal: AbortSignal): Promise<{ session: string; offer: string; ticket: string }>
  /** What somebody sends or watches already goes on; rejects where it does not. @returns the name of the session, and its ticket from now on */
  claim(wish: ClaimWish, signal: AbortSignal): Promise<{ session: string; ticket: string }>
  start(session: string, answer: string, signal: AbortSignal): Promise<void>
  trickle(
    session: string,
    candidates: readonly { candidate: string; sdpMid: string }[],
    signal: AbortSignal,
  ): Promise<void>
  /** The browser begins ICE anew. @returns the description of the node's end in the new ICE session, with its addresses */
  restart(
    session: string,
    credentials: { userFragment: string; password: string },
    signal: AbortSignal,
  ): Promise<string>
  show(session: string, height: number, signal: AbortSignal): Promise<void>
  end(session: string): Promise<void>
  mute(wish: MuteWish, signal: AbortSignal): Promise<void>
  /** What is published in the room is known from then on, whether anybody came through the page or not. */
  look(roomId: string, signal: AbortSignal): Promise<void>
  feedsOf(roomId: string): RemoteFeed[]
  /** Why a request failed, in words for the program. */
  refusalOf(error: unknown): MediaRefusalName
}
