import { randomBytes, createHmac } from 'node:crypto'
import type { JoinClaims } from '../../../shared/join-token.ts'
import { screenSuffix } from '../../../shared/media/signal.ts'
import { Problem } from '../base/problem.ts'
import { everybody, type RemovalTable } from '../../../shared/media/removal-table.ts'
import { hostMark, readPass, signPass } from './entry-pass.ts'
import type { Identity, Member } from './member.ts'
import type { Room } from './room.ts'

/**
 * Identity of a user in a room. An id belongs to whoever proves it: by a join link bound to that user, the secret of a browser, or a pass that the node gave with an id of its own
 * making. Everybody else gets an id that the node makes, whatever they ask for. The role follows from the proof alone: the link, the host password, or a pass that was given to
 * somebody who knew the password. Outgoing users are the controller's: see `Room.assertFree`.
 */

/** Proofs of a caller, each checked as far as it can be without knowing who they are. */
export interface ShownProofs {
  /** Claims of a link that is good for the room; undefined: they came by the host password or the number. */
  link: Pick<JoinClaims, 'id' | 'user' | 'role' | 'iat'> | undefined
  /** They gave the room's host password. */
  password: boolean
  /** Secret of their browser. */
  browser: string | undefined
  /** Empty for none. */
  pass: string
  /** Id that the pass was given for. A wish and nothing else. */
  userId: string | undefined
}

/** The part of an identity that proofs decide. */
export type ProvenIdentity = Pick<
  Identity,
  'userId' | 'proven' | 'tokenId' | 'role' | 'byPassword' | 'wasIn' | 'passProves'
>

/** Needs of judging identities. */
export interface IdentityParts {
  /** Key of the site's join links. */
  key: Buffer
  removals: Pick<RemovalTable, 'refuses' | 'revoked' | 'outdated'>
  /** The room as it is open here; undefined while it is not. */
  find(roomId: string): Pick<Room, 'config' | 'takesPass'> | undefined
}

/** Claimed identity, with its proof. */
type Claim = Pick<Identity, 'userId' | 'proven' | 'tokenId' | 'passProves'>

/** Decides who callers are, and what role they have. */
export class Identities {
  readonly #parts: IdentityParts

  constructor(parts: IdentityParts) {
    this.#parts = parts
  }

  /** Identifies a user. @throws Problem removed if the holder of this id was removed; badRequest */
  identify(roomId: string, shown: ShownProofs): ProvenIdentity {
    const claim = this.#claimOf(roomId, shown)
    this.#assertNotRemoved(roomId, shown, claim)
    const wasIn = this.#passHolds(roomId, claim.userId, shown.pass)
    const byPassword = shown.password || (wasIn && this.#passOfHost(roomId, claim.userId, shown.pass))
    return { ...claim, wasIn, byPassword, role: byPassword || shown.link?.role === 'host' ? 'host' : 'member' }
  }

  /** Whether somebody without a link shows that they were in the room in this meeting. */
  wasIn(roomId: string, { browser, userId, pass }: Pick<ShownProofs, 'browser' | 'userId' | 'pass'>): boolean {
    const own = browser === undefined ? userId : browserIdentity(this.#parts.key, roomId, browser).userId
    return own !== undefined && this.#passHolds(roomId, own, pass)
  }

  /** Whether the pass shows that this user was in the room in this meeting, and was not removed since. */
  #passHolds(roomId: string, userId: string, pass: string): boolean {
    const { removals } = this.#parts
    const issuedAt = this.#read(roomId, userId, pass)?.issuedAt
    if (issuedAt === undefined) return false
    if (removals.outdated(roomId, userId, issuedAt) || removals.outdated(roomId, everybody, issuedAt)) return false
    return this.#parts.find(roomId)?.takesPass(issuedAt) ?? true
  }

  /** Pass with which this member comes back. */
  passFor(
    roomId: string,
    { user, byPassword, passProves }: Pick<Member, 'user' | 'byPassword' | 'passProves'>,
  ): string {
    const host = byPassword ? this.#hostMark(roomId) : ''
    return signPass(this.#parts.key, { roomId, userId: user.userId, proves: passProves, host })
  }

  #claimOf(roomId: string, { link, browser, pass, userId }: ShownProofs): Claim {
    if ((link?.user ?? userId)?.endsWith(screenSuffix) === true)
      throw new Problem('badRequest', `A user id may not end with ${screenSuffix}.`)
    if (link?.user !== undefined) return { userId: link.user, proven: true, tokenId: link.id, passProves: false }
    if (browser !== undefined)
      return { ...browserIdentity(this.#parts.key, roomId, browser), proven: true, passProves: false }
    const own = userId !== undefined && this.#read(roomId, userId, pass)?.proves === true
    if (own && this.#passHolds(roomId, userId, pass))
      return { userId, proven: true, tokenId: undefined, passProves: true }
    return { userId: newUserId(), proven: false, tokenId: undefined, passProves: true }
  }

  #assertNotRemoved(roomId: string, { link, password }: ShownProofs, { userId, tokenId, proven }: Claim): void {
    const { removals } = this.#parts
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

  /** Empty for a room without a host password. */
  #hostMark(roomId: string): string {
    const password = this.#parts.find(roomId)?.config.hostPassword ?? ''
    return password === '' ? '' : hostMark(this.#parts.key, roomId, password)
  }

  #read(roomId: string, userId: string, pass: string): ReturnType<typeof readPass> {
    return pass === '' ? undefined : readPass(this.#parts.key, { roomId, userId }, pass)
  }
}

/** A link was made before its holder was removed. */
export function askForNewLink(): Problem {
  return new Problem('removed', 'You were removed from this room: ask for a new join link.')
}

/** An id that nobody can ask for. */
function newUserId(): string {
  return `guest-${randomBytes(6).toString('hex')}`
}

/** Identity of a browser in one room, where no link names the user. */
interface BrowserIdentity {
  userId: string
  /** Stands for a link: once its person was removed from the room, the browser is refused there. */
  tokenId: string
}

/**
 * Identity of a browser: the same user each time it enters a room by number or password, and another user in every other room. The user's id does not reveal the browser's secret,
 * so no other browser can enter under it.
 * @param key the node's own
 * @param secret made by the browser and kept there
 */
function browserIdentity(key: Buffer, roomId: string, secret: string): BrowserIdentity {
  const digest = createHmac('sha256', key)
    .update(JSON.stringify(['browser', roomId, secret]))
    .digest('hex')
  return { userId: `guest-${digest.slice(0, 12)}`, tokenId: `browser-${digest.slice(12, 44)}` }
}
