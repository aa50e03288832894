import { randomBytes } from 'node:crypto'
import { AddressShares } from '../base/address-shares.ts'
import { Problem } from '../base/problem.ts'
import type { CandidatePolicy } from '../webrtc/candidate-policy.ts'
import { usableCandidate } from '../webrtc/candidates.ts'
import type { Offer } from '../webrtc/offer.ts'
import type { Peer } from '../webrtc/peer.ts'
import { checkedCredentials, fragmentText, parseFragment } from '../webrtc/trickle-fragment.ts'

/** One WHIP or WHEP session, by the unguessable id in its URL. */
export interface MediaSession {
  id: string
  /** Names the ICE session (RFC 9725, section 4.3). */
  etag: string
  /** Connection of the browser here, or of its remote media. */
  peer: SessionPeer
  /** User fragment of the client in the present ICE session. */
  userFragment: string
  /** Media sections of its offer. */
  mids: readonly string[]
  /** Address that its offer came from. */
  client: string
  /** Limits the addresses that the node calls for it. */
  candidates: CandidatePolicy
  /** Whether its client has restarted ICE. */
  restarted: boolean
  /** Called with the height at which its picture is shown, in device pixels; undefined if it sends none. */
  shown: ((height: number) => void) | undefined
}

/** Peer of a session. */
export interface SessionPeer extends Pick<Peer, 'close'> {
  /** Restarts ICE; left out: a new session is needed. */
  restartIce?: Peer['restartIce']
  /** Takes an address in. */
  addCandidate?: Peer['addCandidate']
  /** Takes a fragment's addresses in as they are. @throws Problem noSession, busy */
  trickle?(candidates: readonly { candidate: string; mid: string }[]): Promise<void>
  /** Takes the answer to an offer of the server. @throws Problem noSession, badOffer, busy */
  start?(answer: string): Promise<void>
}

/** Parts of an offer that a session keeps. */
type SessionOffer = Pick<Offer, 'mids' | 'client' | 'candidates'> & { ice: Pick<Offer['ice'], 'userFragment'> }

/** WHIP and WHEP sessions of one address, those under way too: a room of 50 people, everybody watching everybody, behind one router. */
const maxPerAddress = 2_600
/** So many sessions that are over are remembered, for so long: their clients may not know it yet and say goodbye. */
const maxEnded = 10_000
const endedMs = 10 * 60_000

/** Every open WHIP and WHEP session. */
export class MediaSessions {
  readonly #sessions = new Map<string, MediaSession>()
  /** When each ended, the first one first. */
  readonly #ended = new Map<string, number>()
  readonly #clock: () => number
  readonly #shares = new AddressShares(maxPerAddress)

  /** @param clock milliseconds that only grow */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock
  }

  /** Room for one more session of an address, until what is returned is called. @throws Problem tooMany */
  reserve(remoteAddress: string): () => void {
    const release = this.#shares.take(remoteAddress)
    if (release === undefined) throw new Problem('tooMany', 'This address has as many sessions as it may have.')
    return release
  }

  /** @param shown called with the height at which its picture is shown */
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

  /** Its client shows the picture so high, in device pixels. Returns false when there is no such session any more. */
  shown(id: string, height: number): boolean {
    const session = this.#sessions.get(id)
    session?.shown?.(height)
    return session !== undefined
  }

  /** Ends a session for its client; also one that was over already. @throws Problem noSession when there never was such a one, as far as is known */
  end(id: string): void {
    this.#forget()
    if (this.#ended.has(id)) return
    this.get(id).peer.close()
  }

  /** A session is over. */
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
 * Takes a client's fragment of its ICE session: further addresses (RFC 9725, section 4.3.2), or a restart (section 4.3.3).
 * @returns the fragment that answers a restart; undefined when there is nothing to answer
 * @throws Problem badRequest, and as `Peer.restartIce` does
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
  // After a new beginning it is found by the address that its packets come from.
  if (session.restarted) return undefined
  const isJanus = session.peer.trickle !== undefined
  const usable = candidates.flatMap(({ candidate, mid }) => {
    // Janus itself resolves the names that stand for addresses: only their form is known here.
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
