import { Problem } from '../base/problem.ts'
import type { MediaSession, MediaSessions } from './media-sessions.ts'

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

  /** Whether the session was closed, or failed to open. */
  get closed(): boolean {
    return this.#closed
  }

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
