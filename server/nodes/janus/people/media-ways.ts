import type { JanusCandidate } from '../janus-message.ts'
import type { IceCredentials } from './gathered-description.ts'
import { NotThere } from './refusals.ts'

/** One publication or subscription. */
export interface MediaWay {
  trickle(candidate: JanusCandidate, signal: AbortSignal): Promise<void>
  restart(credentials: IceCredentials, signal: AbortSignal): Promise<string>
  /** Of a subscription. */
  start?(answer: string, signal: AbortSignal): Promise<void>
  show?(height: number, signal: AbortSignal): Promise<void>
  end(signal: AbortSignal): Promise<void>
  /** What a subscription shows. */
  watches?: { roomId: string; feedId: string }
}

/** Publications and subscriptions by the names of their sessions. */
export class MediaWays {
  readonly #ways = new Map<string, MediaWay>()

  add(session: string, way: MediaWay): void {
    this.#ways.set(session, way)
  }

  find(session: string): MediaWay | undefined {
    return this.#ways.get(session)
  }

  /** @throws NotThere */
  get(session: string): MediaWay {
    const way = this.#ways.get(session)
    if (way === undefined) throw new NotThere('there is no such session')
    return way
  }

  /** It is over. @returns the one that it was */
  take(session: string): MediaWay | undefined {
    const way = this.#ways.get(session)
    this.#ways.delete(session)
    return way
  }

  /** Subscriptions of a room to what is published no more. */
  *without(roomId: string, isPublished: (feedId: string) => boolean): Iterable<string> {
    for (const [session, { watches }] of this.#ways)
      if (watches?.roomId === roomId && !isPublished(watches.feedId)) yield session
  }
}
