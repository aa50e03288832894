import { randomBytes, createHmac } from 'node:crypto'
import { issueToken, readToken, type VerifiedToken } from '../../../shared/files/signed-tokens.ts'
import { screenSuffix } from '../../../shared/media/signal.ts'
import { Problem } from '../base/problem.ts'
import { everybody } from '../../../shared/media/removal-table.ts'
import type { Identity, RoomMember } from './member.ts'
import type { MediaRooms } from './media-rooms.ts'

/**
 * Identity of a user in a room. An id is proven by a join link bound to the user, by a browser's secret, or by a pass
 * for an id that the node made. Any other caller gets a new id from the node, even if they request a specific id. The
 * role follows from the proof alone: the link, the host password, or a pass issued to a user who gave the password. The
 * ids of devices belong to the controller: see `RoomMembers.assertFree`.
 */

/** Proofs of a caller, checked as far as possible without the caller's identity. */
export interface ShownProofs {
  /** Claims of a link that is valid for the room; undefined: the caller used the host password or the number. */
  link: VerifiedToken<'join-token'> | undefined
  /** Whether the caller gave the room's host password. */
  password: boolean
  browser: string | undefined
  /** Pass of an earlier participant session; empty: none. */
  pass: string
  /** Id that the pass was issued for. Without a proof, the id is only requested. */
  userId: string | undefined
}

/** Part of an identity that follows from the proofs. */
export type ProvenIdentity = Pick<
  Identity,
  'userId' | 'proven' | 'tokenId' | 'role' | 'byPassword' | 'wasIn' | 'passProves'
>

/** Claimed identity with its proof. */
type Claim = Pick<Identity, 'userId' | 'proven' | 'tokenId' | 'passProves'>

/** Determines the identity and role of callers. */
export class Identities {
  readonly #key: Buffer
  readonly #rooms: Pick<MediaRooms, 'find' | 'removals'>

  /** @param key signing key of the site's join links */
  constructor(key: Buffer, rooms: Pick<MediaRooms, 'find' | 'removals'>) {
    this.#key = key
    this.#rooms = rooms
  }

  /** Identifies a user. @throws Problem removed if this user was removed from the room; badRequest */
  identify(roomId: string, shown: ShownProofs): ProvenIdentity {
    const claim = this.#claimOf(roomId, shown)
    this.#assertNotRemoved(roomId, shown, claim)
    const wasIn = this.#passHolds(roomId, claim.userId, shown.pass)
    const byPassword = shown.password || (wasIn && this.#passOfHost(roomId, claim.userId, shown.pass))
    return { ...claim, wasIn, byPassword, role: byPassword || shown.link?.role === 'host' ? 'host' : 'member' }
  }

  /** Returns whether a user without a link proves that they were in the room during this meeting. */
  wasIn(roomId: string, { browser, userId, pass }: Pick<ShownProofs, 'browser' | 'userId' | 'pass'>): boolean {
    const own = browser === undefined ? userId : browserIdentity(this.#key, roomId, browser).userId
    return own !== undefined && this.#passHolds(roomId, own, pass)
  }

  /**
   * Returns whether the pass proves that this user was in the room during this meeting and has not been removed since.
   */
  #passHolds(roomId: string, userId: string, pass: string): boolean {
    const { removals } = this.#rooms
    const issuedAt = this.#read(roomId, userId, pass)?.issuedAt
    if (issuedAt === undefined) return false
    if (removals.outdated(roomId, userId, issuedAt) || removals.outdated(roomId, everybody, issuedAt)) return false
    return this.#rooms.find(roomId)?.meeting.takesPass(issuedAt) ?? true
  }

  /** Returns a pass with which this member can enter again. */
  passFor(
    roomId: string,
    { user, entry: { byPassword = false, passProves = false } }: Pick<RoomMember, 'user' | 'entry'>,
  ): string {
    const host = byPassword ? this.#hostMark(roomId) : ''
    const claims = { issuedAt: Date.now(), proves: passProves, host }
    return issueToken('entry-pass', this.#key, claims, roomId, user.userId)
  }

  #claimOf(roomId: string, { link, browser, pass, userId }: ShownProofs): Claim {
    if ((link?.user ?? userId)?.endsWith(screenSuffix) === true)
      throw new Problem('badRequest', `A user id may not end with ${screenSuffix}.`)
    if (link?.user !== undefined) return { userId: link.user, proven: true, tokenId: link.id, passProves: false }
    if (browser !== undefined)
      return { ...browserIdentity(this.#key, roomId, browser), proven: true, passProves: false }
    const own = userId !== undefined && this.#read(roomId, userId, pass)?.proves === true
    if (own && this.#passHolds(roomId, userId, pass))
      return { userId, proven: true, tokenId: undefined, passProves: true }
    return { userId: newUserId(), proven: false, tokenId: undefined, passProves: true }
  }

  #assertNotRemoved(roomId: string, { link, password }: ShownProofs, { userId, tokenId, proven }: Claim): void {
    const { removals } = this.#rooms
    if (!proven) return
    if (link !== undefined && removals.outdated(roomId, userId, link.iat)) throw askForNewLink()
    if (link === undefined && !password && tokenId !== undefined && removals.revoked(roomId, tokenId))
      throw new Problem('removed', 'You were removed from this room: a join link is required to come back.')
    if (removals.refuses(roomId, userId)) throw new Problem('removed')
  }

  #passOfHost(roomId: string, userId: string, pass: string): boolean {
    const mark = this.#hostMark(roomId)
    return mark !== '' && this.#read(roomId, userId, pass)?.host === mark
  }

  /** Returns the HMAC that identifies the room's current host password in passes; empty: no host password. */
  #hostMark(roomId: string): string {
    const password = this.#rooms.find(roomId)?.config.hostPassword ?? ''
    return password === '' ? '' : hostMark(this.#key, roomId, password)
  }

  #read(roomId: string, userId: string, pass: string): VerifiedToken<'entry-pass'> | undefined {
    return pass === '' ? undefined : readToken('entry-pass', this.#key, pass, Date.now(), roomId, userId)
  }
}

/** Returns the error for a link that was made before its holder was removed. */
export function askForNewLink(): Problem {
  return new Problem('removed', 'You were removed from this room: ask for a new join link.')
}

/** Makes a random id. A caller cannot request such an id. */
function newUserId(): string {
  return `guest-${randomBytes(6).toString('hex')}`
}

/** Identity of a browser in one room, for links without a user. */
interface BrowserIdentity {
  userId: string
  /** Used like a link id: after its user was removed from the room, the browser is refused there. */
  tokenId: string
}

/**
 * Derives the identity of a browser: the same user id at each entry to a room, and a different user id in every room.
 * The user id does not reveal the browser's secret, so another browser cannot use the id.
 * @param key the site's signing key
 * @param secret made and kept by the browser
 */
function browserIdentity(key: Buffer, roomId: string, secret: string): BrowserIdentity {
  const digest = createHmac('sha256', key)
    .update(JSON.stringify(['browser', roomId, secret]))
    .digest('hex')
  return { userId: `guest-${digest.slice(0, 12)}`, tokenId: `browser-${digest.slice(12, 44)}` }
}

/**
 * Identifies a room's host password in passes. After a change of the password, older passes no longer grant the host
 * role.
 */
function hostMark(key: Buffer, roomId: string, password: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify(['host', roomId, password]))
    .digest('base64url')
    .slice(0, 22)
}
