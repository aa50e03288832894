import type { JanusCandidate } from '../wire/janus-socket.ts'
import type { DescriptionCredentials } from './gathered-description.ts'
import type { JanusPublication } from './publication.ts'
import { NotThere } from './refusals.ts'
import type { SmallPicture } from './small-pictures.ts'
import { Subscription } from './subscription.ts'

/** One publication or subscription. */
export interface JanusTransport {
  trickle(candidate: JanusCandidate, signal: AbortSignal): Promise<void>
  restart(credentials: DescriptionCredentials, signal: AbortSignal): Promise<string>
  /** Starts a subscription. */
  start?(answer: string, signal: AbortSignal): Promise<void>
  show?(height: number, signal: AbortSignal): Promise<void>
  end(signal: AbortSignal): Promise<void>
  /** Stream of a subscription. */
  watches?: { roomId: string; feedId: string }
  /** Id of the handle on the node, with which the media is resumed. Left out: the media cannot be resumed. */
  handle?: number
}

/**
 * Returns the operations of a publication or subscription.
 * @param handle see JanusTransport.handle
 */
export function transportOf(media: Subscription | JanusPublication, handle: number | undefined): JanusTransport {
  const transport: JanusTransport = {
    trickle: (candidate, signal) => media.trickle(candidate, signal),
    restart: (credentials, signal) => media.restart(credentials, signal),
    end: (signal) => media.end(signal),
    ...(handle === undefined ? {} : { handle }),
  }
  if (!(media instanceof Subscription)) return transport
  return {
    ...transport,
    start: (answer, signal) => media.start(answer, signal),
    show: (height, signal) => media.show(height, signal),
  }
}

/** Returns the operations of a small picture. Ending it also releases the picture. */
export function smallTransport({ subscription, letGo }: SmallPicture, handle: number | undefined): JanusTransport {
  const transport = transportOf(subscription, handle)
  return {
    ...transport,
    end: async (signal) => {
      letGo()
      await transport.end(signal)
    },
  }
}

/** Publications and subscriptions by session name. */
export class JanusTransports {
  readonly #transports = new Map<string, JanusTransport>()
  readonly #byHandle = new Map<number, string>()

  add(session: string, transport: JanusTransport): void {
    this.#transports.set(session, transport)
    if (transport.handle !== undefined) this.#byHandle.set(transport.handle, session)
  }

  find(session: string): JanusTransport | undefined {
    return this.#transports.get(session)
  }

  /** Returns the name of the session that has this handle. */
  sessionOf(handle: number): string | undefined {
    return this.#byHandle.get(handle)
  }

  /** @throws NotThere */
  get(session: string): JanusTransport {
    const transport = this.#transports.get(session)
    if (transport === undefined) throw new NotThere('there is no such session')
    return transport
  }

  /** Removes a session, and returns its transport; undefined: there was no such session. */
  take(session: string): JanusTransport | undefined {
    const transport = this.#transports.get(session)
    this.#transports.delete(session)
    if (transport?.handle !== undefined && this.#byHandle.get(transport.handle) === session)
      this.#byHandle.delete(transport.handle)
    return transport
  }

  clear(): void {
    this.#transports.clear()
    this.#byHandle.clear()
  }

  /** Returns the sessions of subscriptions in a room whose stream is no longer published. */
  *without(roomId: string, isPublished: (feedId: string) => boolean): Iterable<string> {
    for (const [session, { watches }] of this.#transports)
      if (watches?.roomId === roomId && !isPublished(watches.feedId)) yield session
  }
}
