import { randomBytes } from 'node:crypto'
import { AddressShares } from '../address-shares.ts'
import { Problem } from '../problem.ts'
import type { Offer } from '../webrtc/offer.ts'
import type { Peer } from '../webrtc/peer.ts'

/** One WHIP or WHEP session, by the unguessable id in its URL. */
export interface MediaSession {
  id: string
  /** Names the ICE session (RFC 9725, section 4.3). */
  etag: string
  peer: Peer
  userFragment: string
  /** First media section: where candidates without one belong. */
  firstMid: string
  /** Addresses that its client found later and that were taken in. */
  candidates: number
}

/** WHIP and WHEP sessions of one address, those under way too: half of what the node carries, and many a page behind one router. */
const mostPerAddress = 1_000
/** A browser finds some tens of addresses for itself; what comes after these is ignored. */
const mostCandidates = 200

/** Every open WHIP and WHEP session. */
export class MediaSessions {
  readonly #sessions = new Map<string, MediaSession>()
  readonly #shares = new AddressShares(mostPerAddress)

  get size(): number {
    return this.#sessions.size
  }

  /** Room for one more session of an address, until what is returned is called. @throws Problem tooMany */
  reserve(remoteAddress: string): () => void {
    const release = this.#shares.take(remoteAddress)
    if (release === undefined) throw new Problem('tooMany', 'This address has as many sessions as it may have.')
    return release
  }

  add(peer: Peer, { userFragment, media }: Offer): MediaSession {
    const id = randomBytes(18).toString('base64url')
    const etag = `"${randomBytes(6).toString('base64url')}"`
    const session: MediaSession = { id, etag, peer, userFragment, firstMid: media[0]?.mid ?? '0', candidates: 0 }
    this.#sessions.set(id, session)
    return session
  }

  /** @throws Problem noSession */
  get(id: string): MediaSession {
    const session = this.#sessions.get(id)
    if (session === undefined) throw new Problem('noSession')
    return session
  }

  delete(id: string): void {
    this.#sessions.delete(id)
  }
}

/**
 * Adds the candidates of a trickle fragment (RFC 8840).
 * @throws Problem restart when it is about another ICE session
 */
export function addFragment(session: MediaSession, fragment: string): void {
  let mid = session.firstMid
  const candidates: { candidate: string; mid: string }[] = []
  for (const line of fragment.split(/\r?\n/)) {
    if (line.startsWith('a=mid:')) mid = line.slice(6)
    else if (line.startsWith('a=ice-ufrag:') && line.slice(12) !== session.userFragment) throw new Problem('restart')
    else if (line.startsWith('a=candidate:')) candidates.push({ candidate: line.slice(2), mid })
  }
  for (const each of candidates.slice(0, mostCandidates - session.candidates)) {
    session.candidates += 1
    session.peer.addCandidate(each.candidate, each.mid)
  }
}
