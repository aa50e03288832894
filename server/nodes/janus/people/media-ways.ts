import type { JanusCandidate } from '../wire/janus-message.ts'
import type { IceCredentials } from './gathered-description.ts'
import type { Publication } from './publication.ts'
import { NotThere } from './refusals.ts'
import type { SmallPicture } from './small-pictures.ts'
import { Subscription } from './subscription.ts'

/** One publication or subscription. */
export interface MediaWay {
  trickle(candidate: JanusCandidate, signal: AbortSignal): Promise<void>
  restart(credentials: IceCredentials, signal: AbortSignal): Promise<string>
  /** Starts a subscription. */
  start?(answer: string, signal: AbortSignal): Promise<void>
  show?(height: number, signal: AbortSignal): Promise<void>
  end(signal: AbortSignal): Promise<void>
  /** Feed of a subscription. */
  watches?: { roomId: string; feedId: string }
  /** Its handle on the node, by which the next program of the page finds it; left out: it does not outlive this one. */
  handle?: number
}

/** Operations on a publication or subscription. @param handle see MediaWay.handle */
export function wayOf(media: Subscription | Publication, handle: number | undefined): MediaWay {
  const way: MediaWay = {
    trickle: (candidate, signal) => media.trickle(candidate, signal),
    restart: (credentials, signal) => media.restart(credentials, signal),
    end: (signal) => media.end(signal),
    ...(handle === undefined ? {} : { handle }),
  }
  if (!(media instanceof Subscription)) return way
  return {
    ...way,
    start: (answer, signal) => media.start(answer, signal),
    show: (height, signal) => media.show(height, signal),
  }
}

/** The same of a small picture, which is let go of with it. */
export function smallWay({ subscription, letGo }: SmallPicture, handle: number | undefined): MediaWay {
  const way = wayOf(subscription, handle)
  return {
    ...way,
    end: async (signal) => {
      letGo()
      await way.end(signal)
    },
  }
}

/** Publications and subscriptions by the names of their sessions. */
export class MediaWays {
  readonly #ways = new Map<string, MediaWay>()
  readonly #byHandle = new Map<number, string>()

  add(session: string, way: MediaWay): void {
    this.#ways.set(session, way)
    if (way.handle !== undefined) this.#byHandle.set(way.handle, session)
  }

  find(session: string): MediaWay | undefined {
    return this.#ways.get(session)
  }

  /** The name of the session that has this handle. */
  sessionOf(handle: number): string | undefined {
    return this.#byHandle.get(handle)
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
    if (way?.handle !== undefined && this.#byHandle.get(way.handle) === session) this.#byHandle.delete(way.handle)
    return way
  }

  /** Forgets all of them. */
  clear(): void {
    this.#ways.clear()
    this.#byHandle.clear()
  }

  /** Subscriptions of a room to what is published no more. */
  *without(roomId: string, isPublished: (feedId: string) => boolean): Iterable<string> {
    for (const [session, { watches }] of this.#ways)
      if (watches?.roomId === roomId && !isPublished(watches.feedId)) yield session
  }
}
