import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { addressShare, plainAddress } from '../../../shared/client-address.ts'
import { shownName } from '../../../shared/control-character.ts'
import type { JoinClaims } from '../../../shared/join-token.ts'
import type { GuessKind, RoomProof } from '../../../shared/media/control.ts'
import { screenSuffix } from '../../../shared/media/signal.ts'
import { RateLimit } from '../../../shared/rate-limit.ts'
import { Problem } from '../problem.ts'
import { everybody } from './bans.ts'
import { browserIdentity } from './browser-identity.ts'
import { passIssuedAt, signPass } from './entry-pass.ts'
import type { Identity, Member } from './member.ts'
import type { MediaRooms } from './media-rooms.ts'
import type { Guess } from './refusal-tally.ts'
import type { Room } from './room.ts'
import { verifyJoinToken } from './verify-join-token.ts'

/** Who asks to be let into a room, and with what. */
export interface Caller {
  /** A join token, or the session key of somebody who is in; empty for none. */
  token: string
  hostPassword: string
  /** Wishes of somebody whose link is not bound to a user. */
  userId: string | undefined
  userName: string
  /** Secret of the browser of somebody whose link is not bound to a user, or who has none; undefined where the client has none. */
  browser: string | undefined
  /** Of an earlier stay; empty for none. */
  pass: string
  /** The controller has said that the number of the room is enough. */
  byNumber: boolean
  /** Where the request comes from, for the limit of wrong passwords. */
  remote: string
  /** What it came by, for the record of guesses. */
  path: Guess['path']
}

/** Somebody who may come in, who is in (and becomes host where `host`), or who may watch unseen. */
export type Admission = { room: Room } & (
  | { kind: 'newcomer'; identity: Identity }
  | { kind: 'member'; member: Member; host: boolean }
  | { kind: 'observer' }
)

/** Wrong host passwords a minute, by address and room; and by address, with the numbers of rooms that do not let one in by their number: guesses at rooms that do not exist count as well. */
const mostFailures = 10
const mostGuesses = 60
/** Looks at rooms a minute and address, whatever they find: everybody of an office that comes through one address fits. */
const mostLooks = 300
const windowMs = 60_000

/** Says who somebody is and whether they may come in at all; the room says whether there is space. */
export class AdmissionControl {
  readonly #rooms: MediaRooms
  readonly #key: Buffer
  readonly #refused: (guess: Guess) => void
  readonly #failures = new RateLimit({ most: mostFailures, windowMs })
  readonly #guesses = new RateLimit({ most: mostGuesses, windowMs })
  readonly #looks = new RateLimit({ most: mostLooks, windowMs })

  /**
   * @param key of join links
   * @param refused told of each guess that is refused here, and not by the controller
   */
  constructor(rooms: MediaRooms, key: Buffer, refused: (guess: Guess) => void) {
    this.#rooms = rooms
    this.#key = key
    this.#refused = refused
  }

  /**
   * Nothing is told of a room, not even whether there is one, to somebody without a session, a link, the password or the controller's word.
   * @throws Problem unauthorised, hostPasswordWrong, removed, tooMany, badRequest; noRoom for somebody with a link or the controller's word
   */
  admit(roomId: string, caller: Caller): Admission {
    const place = caller.token === '' ? undefined : this.#rooms.bySession(caller.token)
    if (place?.room.config.roomId === roomId) {
      return { ...place, kind: 'member', host: this.#isHost(roomId, caller) }
    }
    if (caller.token === '') return this.#withoutLink(roomId, caller)
    const token = this.#tokenOf(roomId, caller)
    const room = this.#rooms.get(roomId)
    const { role } = token
    if (role === 'observer') return { room, kind: 'observer' }
    return { room, kind: 'newcomer', identity: this.#byLink(roomId, caller, { ...token, role }) }
  }

  /** Who somebody with a link is: the link's user, or one for each browser that comes by it. Whoever is taken out takes none of the others with them. */
  #byLink(roomId: string, caller: Caller, token: JoinClaims & Pick<Identity, 'role'>): Identity {
    const secret = token.user === undefined ? caller.browser : undefined
    const browser = secret === undefined ? undefined : browserIdentity(this.#key, roomId, secret)
    if (browser !== undefined && this.#rooms.bans.outdated(roomId, browser.userId, token.iat)) throw askAnew()
    const userId = token.user ?? browser?.userId ?? caller.userId
    return {
      ...this.#identity(roomId, userId, token.name ?? caller.userName, caller.pass),
      role: this.#isHost(roomId, caller) ? 'host' : token.role,
      bound: token.user !== undefined || browser !== undefined,
      tokenId: token.user === undefined ? browser?.tokenId : token.id,
      byNumber: false,
      namesItself: token.name === undefined,
    }
  }

  #withoutLink(roomId: string, caller: Caller): Admission {
    const host = this.#isHost(roomId, caller)
    if (!host && !caller.byNumber) throw new Problem('unauthorised')
    const room = this.#rooms.get(roomId)
    return { room, kind: 'newcomer', identity: this.#withoutLinkAs(roomId, caller, host) }
  }

  /** Who somebody without a link is. Nobody chooses an id by a number alone: it could be one that somebody else has a link for. */
  #withoutLinkAs(roomId: string, caller: Caller, host: boolean): Identity {
    const browser = caller.browser === undefined ? undefined : browserIdentity(this.#key, roomId, caller.browser)
    if (!host && browser !== undefined && this.#rooms.bans.revoked(browser.tokenId)) {
      throw new Problem('removed', 'You were removed from this room: a join link is required to come back.')
    }
    const wished = browser?.userId ?? (host ? caller.userId : undefined)
    return {
      ...this.#identity(roomId, wished, caller.userName, caller.pass),
      role: host ? 'host' : 'member',
      bound: browser !== undefined,
      tokenId: browser?.tokenId,
      byNumber: !host,
      namesItself: !host,
    }
  }

  /**
   * What the controller is to be asked before somebody is admitted: about a room that is not open here, and about everybody who shows nothing but a
   * number. To somebody without a link that is good for it, the answer is the same where there is such a room and they may not enter it.
   * @returns undefined where the room here decides
   * @throws Problem unauthorised, removed, tooMany
   */
  toBeAsked(roomId: string, caller: Caller): RoomProof | undefined {
    const { token, hostPassword, remote } = caller
    const here = this.#rooms.find(roomId) !== undefined
    if (token !== '') {
      if (!here) this.#tokenOf(roomId, caller)
      return here ? undefined : { by: 'link' }
    }
    if (hostPassword !== '') {
      if (here) return undefined
      this.#assertGuessAllowed(roomId, caller)
      // Counted before the answer: of many guesses at once none passes the limit.
      this.#countGuess(roomId, remote)
      return { by: 'password', password: hostPassword }
    }
    if (!this.#guesses.take(shareOf(remote))) throw this.#refuse('tooMany', roomId, caller)
    const browser = caller.browser === undefined ? undefined : browserIdentity(this.#key, roomId, caller.browser)
    return { by: 'number', was_in: browser !== undefined && this.#wasIn(roomId, browser.userId, caller.pass) }
  }

  /** What `toBeAsked` counted as a guess was right. */
  noteRight(roomId: string, proof: RoomProof, remote: string): void {
    const share = shareOf(remote)
    if (proof.by === 'link') return
    if (proof.by === 'password') this.#failures.forget(failureKey(share, roomId))
    this.#guesses.giveBack(share)
  }

  /** Somebody looks at a room by its number: a guess, until `noteRight`. @throws Problem tooMany */
  countLook(roomId: string, remote: string): void {
    const share = shareOf(remote)
    if (this.#looks.take(share) && this.#guesses.take(share)) return
    throw this.#refuse('tooMany', roomId, { path: '/entry', remote })
  }

  #refuse(
    kind: Exclude<GuessKind, 'badLink'>,
    roomId: string,
    { path, remote }: Pick<Caller, 'path' | 'remote'>,
  ): Problem {
    this.#refused({ kind, path, roomId, remote })
    return new Problem(kind)
  }

  #countGuess(roomId: string, remote: string): void {
    const share = shareOf(remote)
    this.#failures.take(failureKey(share, roomId))
    this.#guesses.take(share)
  }

  #assertGuessAllowed(roomId: string, caller: Caller): void {
    const share = shareOf(caller.remote)
    if (!this.#failures.reached(failureKey(share, roomId)) && !this.#guesses.reached(share)) return
    throw this.#refuse('tooMany', roomId, caller)
  }

  #tokenOf(roomId: string, { token: text, path, remote }: Pick<Caller, 'token' | 'path' | 'remote'>): JoinClaims {
    const token = verifyJoinToken(this.#key, text)
    if (token?.room !== roomId) {
      this.#refused({ kind: 'badLink', path, roomId, remote })
      throw new Problem('unauthorised', 'The join link is not valid or has expired.')
    }
    const { bans } = this.#rooms
    if (token.user !== undefined && bans.outdated(roomId, token.user, token.iat)) throw askAnew()
    if (bans.revoked(token.id) || bans.outdated(roomId, everybody, token.iat)) {
      throw new Problem('unauthorised', 'The join link was revoked: ask for a new one.')
    }
    return token
  }

  #identity(
    roomId: string,
    wished: string | undefined,
    name: string,
    pass: string,
  ): Pick<Identity, 'userId' | 'userName' | 'wasIn'> {
    if (wished?.endsWith(screenSuffix)) throw new Problem('badRequest', `A user id may not end with ${screenSuffix}.`)
    const userId = wished ?? `guest-${randomBytes(6).toString('hex')}`
    if (this.#rooms.bans.refuses(roomId, userId)) throw new Problem('removed')
    return { userId, userName: shownName(name === '' ? userId : name), wasIn: this.#wasIn(roomId, userId, pass) }
  }

  /** Whether somebody was in the room in this meeting, and not taken out since. */
  #wasIn(roomId: string, userId: string, pass: string): boolean {
    const issuedAt = pass === '' ? undefined : passIssuedAt(this.#key, roomId, userId, pass)
    if (issuedAt === undefined) return false
    const { bans } = this.#rooms
    if (bans.outdated(roomId, userId, issuedAt) || bans.outdated(roomId, everybody, issuedAt)) return false
    return this.#rooms.find(roomId)?.takesPass(issuedAt) ?? true
  }

  /** What shows later that somebody was in this room. */
  passFor(roomId: string, userId: string): string {
    return signPass(this.#key, roomId, userId)
  }

  /** Whether a link is good for a room now. */
  isGoodLink(roomId: string, caller: Pick<Caller, 'token' | 'path' | 'remote'>): boolean {
    try {
      this.#tokenOf(roomId, caller)
      return true
    } catch (error) {
      if (error instanceof Problem) return false
      throw error
    }
  }

  /** Whether the password that was given is the room's; false when none was given. @throws Problem hostPasswordWrong, tooMany */
  #isHost(roomId: string, caller: Caller): boolean {
    const { hostPassword, remote } = caller
    if (hostPassword === '') return false
    this.#assertGuessAllowed(roomId, caller)
    const expected = this.#rooms.find(roomId)?.config.hostPassword ?? ''
    const same = timingSafeEqual(sha256(expected), sha256(hostPassword))
    if (same && expected !== '') return true
    this.#countGuess(roomId, remote)
    throw this.#refuse('hostPasswordWrong', roomId, caller)
  }
}

function askAnew(): Problem {
  return new Problem('removed', 'You were removed from this room: ask for a new join link.')
}

/** What the limits count by. */
function shareOf(remote: string): string {
  return addressShare(plainAddress(remote))
}

function failureKey(share: string, roomId: string): string {
  return JSON.stringify([share, roomId])
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
