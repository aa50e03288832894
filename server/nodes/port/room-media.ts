import type { MediaRefusalName } from '../../../shared/media/room-media.ts'
import type { StreamSource } from '../../../shared/media/signal.ts'

export type { RoomMedia, RoomMediaParams, RoomMediaResult } from '../../../shared/media/room-media.ts'

/** A person who enters a room through the room page. */
export interface PagePerson {
  roomId: string
  userId: string
  userName: string
  role: 'host' | 'member'
  /** Whether the person joined with the room's number alone. */
  byNumber?: boolean | undefined
  /** Order of the raised hand; 0, or left out: not raised. */
  hand?: number | undefined
}

export interface RemoteFeed {
  userId: string
  source: StreamSource
  /** Codec name, e.g. `h264`; empty if there is no video. */
  videoCodec: string
  audioCodec: string
  /** Whether a host muted the video, so that no one receives it; `audioMuted` likewise. */
  videoMuted: boolean
  audioMuted: boolean
  /** `tellsLevel`: whether the audio level is reported; `speaks`: whether that level is currently that of speech. */
  tellsLevel: boolean
  speaks: boolean
}

/** Request to mute or unmute a user's camera or microphone. */
export interface MuteRequest {
  roomId: string
  userId: string
  kind: 'audio' | 'video'
  muted: boolean
}

/** Event about people who entered through the page. */
export type RoomMediaEvent =
  /** The streams published in a room changed. Emitted if a user of this site is in the room. */
  | { type: 'feeds'; roomId: string }
  /** A user is no longer in the room, or could not join it, without having requested to leave. */
  | { type: 'out'; roomId: string; userId: string; error: unknown }
  /** A media session ended without a request. */
  | { type: 'over'; session: string }

/** People of the room page in their rooms, and the streams there. */
export interface RoomPeople {
  /**
   * Adds a person to the room.
   * @param ticket ticket of media that the person already sends or watches, issued for an earlier program or
   * controller. The ticket resumes the person's participant session. Empty: there is no ticket.
   */
  enter(person: PagePerson, ticket: string): void
  leave(roomId: string, userId: string): Promise<void>
  mute(request: MuteRequest, signal: AbortSignal): Promise<void>
  /** Loads the streams of the room, even if no person entered it through the page. */
  look(roomId: string, signal: AbortSignal): Promise<void>
  feedsOf(roomId: string): RemoteFeed[]
  /** Returns whether an opened session still exists. */
  isOpen(session: string): boolean
  /** Returns the name of the reason why a method of `RoomMedia` rejected. */
  refusalOf(error: unknown): MediaRefusalName
}
