import type { RoomMediaParams } from '../../port/room-media.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import type { Subscription } from './subscription.ts'

/** A smaller picture on its way to somebody. */
export interface SmallPicture {
  subscription: Subscription
  /** It is not needed any more. Idempotent. */
  letGo: () => void
}

/** Streams of which there is a smaller picture besides the one in the room. */
export interface SmallPictures {
  /**
   * Begins to send it; undefined where there is none, or it is not to be had now: the large one serves.
   * @param owner in whose session, with which it ends
   * @param ended called once when it ends by itself
   * @throws the signal's reason
   */
  open(
    stream: { roomId: string; userId: string },
    owner: JanusSession,
    ended: () => void,
    signal: AbortSignal,
  ): Promise<SmallPicture | undefined>
  /**
   * Goes on with one that an earlier controller began; undefined where it is over.
   * @param claimed its handle, in the session of its owner, and what the browser answered
   * @param ended called once when it ends by itself
   * @throws the signal's reason
   */
  goOn(
    stream: { roomId: string; userId: string },
    claimed: { owner: JanusSession; handle: number; answer: string },
    ended: () => void,
    signal: AbortSignal,
  ): Promise<SmallPicture | undefined>
}

/** Up to this height, in device pixels, the smaller picture is enough: as the room page asks for it. */
const enoughUpTo = 270
/** Height beyond which a preview starts again with the large picture. */
const tooSmallFrom = 400

/** Whether somebody is better served by the smaller picture: who asks for it, or a preview that is small. The room page asks by itself, and changes over without a blink. */
export function wantsSmall({ small, userId, height }: RoomMediaParams<'watch'>): boolean {
  return small || (userId === null && height !== null && height > 0 && height <= enoughUpTo)
}

/** Whether a preview that began with the smaller picture has to start again with the large one. */
export function hasOutgrown(height: number): boolean {
  return height >= tooSmallFrom
}
