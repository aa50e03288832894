import { randomBytes } from 'node:crypto'
import { AddressShares } from '../base/address-shares.ts'
import { Problem } from '../base/problem.ts'
import { type CandidatePolicy, usableCandidate } from '../webrtc/candidates.ts'
import type { Offer } from '../webrtc/offer.ts'
import type { Peer } from '../webrtc/peer.ts'
import { checkedCredentials, fragmentText, parseFragment } from '../webrtc/trickle-fragment.ts'

/** One WHIP or WHEP session, identified by the unguessable id in its URL. */
export interface MediaSession {
  id: string
  /** Entity tag of the current ICE session (RFC 9725, section 4.3). */
  etag: string
  /** Connection of the browser to this node, or to remote media. */
  peer: SessionPeer
  /** User fragment of the client in the current ICE session. */
  userFragment: string
  mids: readonly string[]
  /** Source address of the offer. */
  client: string
  /** Restricts the addresses to which the node sends connectivity checks for this session. */
  candidates: CandidatePolicy
  restarted: boolean
  /** Called with the height at which the picture is shown, in device pixels; undefined if no picture is sent. */
  shown: ((height: number) => void) | undefined
}

export interface SessionPeer extends Pick<Peer, 'close'> {
  /** Restarts ICE; omitted if a new session is required instead. */
  restartIce?: Peer['restartIce']
  addCandidate?: Peer['addCandidate']
  /** Forwards candidates unchanged. @throws Problem noSession, busy */
  trickle?(candidates: readonly { candidate: string; mid: string }[]): Promise<void>
  /** Accepts the client's answer to an offer of the server. @throws Problem noSession, badOffer, busy */
  start?(answer: string): Promise<void>
}

/** Parts of an offer that a session keeps. */
type SessionOffer = Pick<Offer, 'mids' | 'client' | 'candidates'> & { ice: Pick<Offer['ice'], 'userFragment'> }

/**
 * Maximum number of WHIP and WHEP sessions per address, including pending sessions. Suffices for a room of 50 users
 * behind one router who all watch each other.
 */
const maxPerAddress = 2_600
/**
 * Maximum number and age (in milliseconds) of ended sessions that are kept. A client may delete a session before it
 * notices the session's end.
 */
const maxEnded = 10_000
const endedMs = 10 * 60_000

export class MediaSessions {
  readonly #sessions = new Map<string, MediaSession>()
  /** Time of the end by session id, earliest first. */
  readonly #ended = new Map<string, number>()
  readonly #clock: () => number
  readonly #shares = new AddressShares(maxPerAddress)

  /** @param clock monotonic, in milliseconds */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock
  }

  /** Reserves one session of an address, until the returned function is called. @throws Problem tooMany */
  reserve(remoteAddress: string): () => void {
    const release = this.#shares.take(remoteAddress)
    if (release === undefined) throw new Problem('tooMany', 'This address has as many sessions as it may have.')
    return release
  }

  /** @param shown called with the height at which the picture is shown */
  add(
    peer: SessionPeer,
    { ice, mids, client, candidates }: SessionOffer,
    shown?: (height: number) => void,
  ): MediaSession {
    const id = randomBytes(18).toString('base64url')
    const session: MediaSession = {
      id,
      etag: newTag(),
      peer,
      userFragment: ice.userFragment,
      mids,
      client,
      candidates,
      restarted: false,
      shown,
    }
    this.#sessions.set(id, session)
    return session
  }

  /** @throws Problem noSession */
  get(id: string): MediaSession {
    const session = this.#sessions.get(id)
    if (session === undefined) throw new Problem('noSession')
    return session
  }

  /**
   * Sets the height at which the client shows the picture, in device pixels. Returns false if the session does not
   * exist.
   */
  shown(id: string, height: number): boolean {
    const session = this.#sessions.get(id)
    session?.shown?.(height)
    return session !== undefined
  }

  /**
   * Ends a session for its client. Accepts sessions that have ended already.
   * @throws Problem noSession if the session is unknown
   */
  end(id: string): void {
    this.#forget()
    if (this.#ended.has(id)) return
    this.get(id).peer.close()
  }

  /** Removes a session that has ended. */
  delete(id: string): void {
    if (!this.#sessions.delete(id)) return
    this.#ended.set(id, this.#clock())
    this.#forget()
  }

  #forget(): void {
    const before = this.#clock() - endedMs
    for (const [id, at] of this.#ended) {
      if (at >= before && this.#ended.size <= maxEnded) return
      this.#ended.delete(id)
    }
  }
}

/**
 * Processes a client's ICE fragment: further candidates (RFC 9725, section 4.3.2), or a restart (section 4.3.3).
 * @returns the fragment that answers a restart; undefined if there is nothing to answer
 * @throws Problem badRequest; the errors of `Peer.restartIce`
 */
export async function takeFragment(session: MediaSession, text: string): Promise<string | undefined> {
  const { userFragment, password, candidates } = parseFragment(text, session.mids)
  if (userFragment !== '' && userFragment !== session.userFragment) {
    if (session.peer.restartIce === undefined) throw new Problem('restart')
    const answer = await session.peer.restartIce(checkedCredentials(userFragment, password))
    session.userFragment = userFragment
    session.restarted = true
    session.etag = newTag()
    return fragmentText(answer.credentials, session.mids, answer.candidates)
  }
  // Candidates after a restart are ignored: the client's address is taken from its packets.
  if (session.restarted) return undefined
  const isJanus = session.peer.trickle !== undefined
  const usable = candidates.flatMap(({ candidate, mid }) => {
    // Janus resolves mDNS names itself, so Janus receives the accepted candidates unchanged.
    const called = usableCandidate(candidate, session.client)
    if (called === undefined || !session.candidates.accepts(called)) return []
    return { candidate: isJanus ? candidate : called, mid }
  })
  if (isJanus) {
    if (usable.length > 0) await session.peer.trickle?.(usable)
  } else for (const { candidate, mid } of usable) session.peer.addCandidate?.(candidate, mid)
  return undefined
}

function newTag(): string {
  return `"${randomBytes(6).toString('base64url')}"`
}
