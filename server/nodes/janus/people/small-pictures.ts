import type { RoomMediaParams } from '../../port/room-media.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import type { Subscription } from './subscription.ts'

/** A smaller picture that is sent to a viewer. */
export interface SmallPicture {
  subscription: Subscription
  /** Releases the picture. Idempotent. */
  letGo: () => void
}

/** Streams that are also available as a smaller picture, outside of the room. */
export interface SmallPictures {
  /**
   * Subscribes to the smaller picture. Returns undefined if no smaller picture is available now; the large picture is
   * used instead.
   * @param owner session that contains the subscription
   * @param ended called once if the picture ends without a request
   * @throws the signal's reason
   */
  open(
    stream: { roomId: string; userId: string },
    owner: JanusSession,
    ended: () => void,
    signal: AbortSignal,
  ): Promise<SmallPicture | undefined>
  /**
   * Resumes the subscription of an earlier controller. Returns undefined if it has ended.
   * @param claimed the session and the handle of the subscription, and the browser's answer
   * @param ended called once if the picture ends without a request
   * @throws the signal's reason
   */
  goOn(
    stream: { roomId: string; userId: string },
    claimed: { owner: JanusSession; handle: number; answer: string },
    ended: () => void,
    signal: AbortSignal,
  ): Promise<SmallPicture | undefined>
}

/** Height up to which the smaller picture suffices, in device pixels. The room page uses the same value. */
const enoughUpTo = 270
/** Height from which a preview restarts with the large picture. */
const tooSmallFrom = 400

/**
 * Returns whether to use the smaller picture: on request, or for a small preview. The room page requests smaller
 * pictures explicitly, and switches without an interruption.
 */
export function wantsSmall({ small, userId, height }: RoomMediaParams<'watch'>): boolean {
  return small || (userId === null && height !== null && height > 0 && height <= enoughUpTo)
}

/** Returns whether a preview with the smaller picture must restart with the large picture. */
export function hasOutgrown(height: number): boolean {
  return height >= tooSmallFrom
}
