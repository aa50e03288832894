import { Problem } from '../base/problem.ts'
import type { MediaSession, MediaSessions } from './media-sessions.ts'

/** A session, and the description that its client is answered with. */
export interface OpenedSession {
  session: MediaSession
  /** Answer to the client's offer, or (`offers`) an offer of the other end; empty where there is nothing to answer. */
  sdp: string
  /** The other end makes the offer. */
  offers?: boolean
  /** Ticket with which another program can resume it; empty or left out where it cannot be resumed. */
  ticket?: string
}

/** Owns the resources of a session that opens or is open: releases everything once, the last first, whoever ends it. */
export class OpenMedia {
  readonly #closers: (() => void)[] = []
  #closed = false

  /** It is over, or never came about. */
  get closed(): boolean {
    return this.#closed
  }

  /** Gives everything back. Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const close of this.#closers.splice(0).reverse()) close()
  }

  /** Adds what is to be given back; at once where it is over already. */
  onClose(close: () => void): void {
    if (this.#closed) close()
    else this.#closers.push(close)
  }

  /** @throws what it throws, after everything was given back; Problem noStream where it ended meanwhile */
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

/** Opens a session of a client at an address. @throws what `run` throws, after everything was given back; Problem tooMany */
export async function open(
  { sessions }: { sessions: Pick<MediaSessions, 'reserve'> },
  address: string,
  run: (media: OpenMedia) => Promise<OpenedSession>,
): Promise<OpenedSession> {
  const media = new OpenMedia()
  media.onClose(sessions.reserve(address))
  return await media.take(async () => await run(media))
}
