import type { MediaRefusalName } from '../../../shared/media/room-media.ts'
import type { StreamSource } from '../../../shared/media/signal.ts'

export type { RoomMedia, RoomMediaParams, RoomMediaResult } from '../../../shared/media/room-media.ts'

/** Somebody who comes into a room through the room page. */
export interface PagePerson {
  roomId: string
  userId: string
  userName: string
  role: 'host' | 'member'
  /** Joined by the room's number alone. */
  byNumber?: boolean | undefined
  /** Order of the raised hand; 0, or left out: not raised. */
  hand?: number | undefined
}

/** A stream that is published in a room. */
export interface RemoteFeed {
  userId: string
  source: StreamSource
  /** Empty for none, e.g. `h264`. */
  videoCodec: string
  audioCodec: string
  /** A host has muted it: nobody receives it. */
  videoMuted: boolean
  audioMuted: boolean
  /** Its sound tells how loud it is, and whether that is speech now. */
  tellsLevel: boolean
  speaks: boolean
}

/** Wish to mute or unmute a user's camera or microphone. */
export interface MuteWish {
  roomId: string
  userId: string
  kind: 'audio' | 'video'
  muted: boolean
}

/** Event about people who came through the page. */
export type RoomMediaEvent =
  /** Streams that are published in a room changed, as far as a user of this site is in it. */
  | { type: 'feeds'; roomId: string }
  /** Somebody is no longer in the room, or could not join it; nobody asked for that. */
  | { type: 'out'; roomId: string; userId: string; error: unknown }
  /** Media is over; nobody asked for that. */
  | { type: 'over'; session: string }

/** People of the room page in rooms on one node, and the streams there. */
export interface RoomPeople {
  /** Takes a person in. @param ticket of media that they send or watch already, by an earlier program or controller: their participant session is resumed with it; empty: there is none */
  enter(person: PagePerson, ticket: string): void
  leave(roomId: string, userId: string): Promise<void>
  mute(wish: MuteWish, signal: AbortSignal): Promise<void>
  /** Learns the streams of the room, whether anybody came through the page or not. */
  look(roomId: string, signal: AbortSignal): Promise<void>
  feedsOf(roomId: string): RemoteFeed[]
  /** Whether a session that was opened goes on. */
  isOpen(session: string): boolean
  /** Names the reason why a method of `RoomMedia` rejected. */
  refusalOf(error: unknown): MediaRefusalName
}
