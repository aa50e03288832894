import { createHash, timingSafeEqual } from 'node:crypto'
import type { RoomStanding } from '../../../shared/authorization/room-standing.ts'
import { addressShare, plainAddress } from '../../../shared/client-address.ts'
import { shownName } from '../../../shared/control-character.ts'
import { readToken, type VerifiedToken } from '../../../shared/files/signed-tokens.ts'
import type { GuessKind, RoomProof } from '../../../shared/media/controller-methods.ts'
import type { LinkRefusal } from '../../../shared/media/entry-look.ts'
import { everybody } from '../../../shared/media/removal-table.ts'
import { RateLimit } from '../../../shared/rate-limit.ts'
import { Problem } from '../base/problem.ts'
import { askForNewLink, Identities } from './identity.ts'
import type { MediaRooms } from './media-rooms.ts'
import type { Identity, RoomMember } from './member.ts'
import type { Guess, RefusalTally } from './refusal-tally.ts'
import type { Room } from './room.ts'
import { hasSessionKeyForm } from './session-key.ts'

/** Caller who requests to enter a room, with proofs. */
export interface AdmissionCaller {
  /** Join token, or session key of a member; empty: none. */
  token: string
  hostPassword: string
  /** Id that the pass was issued for; proves nothing by itself. */
  userId: string | undefined
  /** Name that the user typed, used if the link has none. If it is empty, the user id is shown. */
  userName: string
  /**
   * Secret of the browser, for users without a link that is bound to a user id; undefined: the client has no secret.
   */
  browser: string | undefined
  /** Pass of an earlier participant session; empty: none. */
  pass: string
  /** Whether the controller has confirmed that the room number is sufficient. */
  byNumber: boolean
  /** Client address, for the limit on wrong passwords. */
  remote: string
  /** Path of the request, for the log of refused guesses. */
  path: Guess['path']
}

/**
 * Result of an admission: a newcomer who may enter, a member (with host rights if `host`), or an observer who is
 * invisible to the room.
 */
export type Admission = { room: Room } & (
  | { kind: 'newcomer'; identity: Identity }
  | { kind: 'member'; member: RoomMember; host: boolean }
  | { kind: 'observer' }
)

/**
 * Limits per minute: wrong host passwords per address and room, and wrong room numbers per address. Numbers of rooms
 * that do not exist count as well.
 */
const maxFailures = 10
const maxGuesses = 60
/** Limit of room look-ups per minute and address, with any result. It suffices for an office behind one address. */
const maxLooks = 300
const windowMs = 60_000

/**
 * Identifies callers and decides whether they may enter. The room checks its own limits, such as the number of
 * participants.
 */
export class AdmissionControl {
  readonly #rooms: MediaRooms
  readonly #key: Buffer
  readonly #identities: Identities
  readonly #refusals: RefusalTally
  readonly #failures = new RateLimit({ max: maxFailures, windowMs })
  readonly #guesses = new RateLimit({ max: maxGuesses, windowMs })
  readonly #looks = new RateLimit({ max: maxLooks, windowMs })

  /**
   * @param key signing key of join links
   * @param refusals reports guesses that this node refuses; the controller's own refusals are not included
   */
  constructor(rooms: MediaRooms, key: Buffer, refusals: RefusalTally) {
    this.#rooms = rooms
    this.#key = key
    this.#identities = new Identities(key, rooms)
    this.#refusals = refusals
  }

  /**
   * Admits a caller. Without a session, a link, the password or the controller's confirmation, the answer does not
   * reveal whether the room exists.
   * @throws Problem unauthorised, hostPasswordWrong, removed, tooMany, badRequest; noRoom for a caller with a link or
   *   the controller's confirmation
   */
  admit(roomId: string, caller: AdmissionCaller): Admission {
    const place = caller.token === '' ? undefined : this.#rooms.bySession(caller.token)
    if (place?.room.config.roomId === roomId) {
      return { ...place, kind: 'member', host: this.#isHost(roomId, caller) }
    }
    const link = caller.token === '' ? undefined : this.#tokenOf(roomId, caller)
    const linked = link && this.#rooms.get(roomId)
    if (linked !== undefined && link?.role === 'observer') return { room: linked, kind: 'observer' }
    const identity = this.#identity(roomId, caller, link)
    return { room: linked ?? this.#rooms.get(roomId), kind: 'newcomer', identity }
  }

  /** @throws the errors of `admit`, except noRoom */
  #identity(roomId: string, caller: AdmissionCaller, link: VerifiedToken<'join-token'> | undefined): Identity {
    const { browser, pass, userId, userName, byNumber, remote } = caller
    const password = this.#isHost(roomId, caller)
    if (link === undefined && !password && !byNumber) throw new Problem('unauthorised')
    const proven = this.#identities.identify(roomId, { link, password, browser, pass, userId })
    const name = link?.name ?? userName
    const isGuest = proven.role !== 'host' && link?.user === undefined
    return {
      ...proven,
      userName: shownName(name === '' ? proven.userId : name),
      named: link?.name !== undefined,
      byNumber: link === undefined && !proven.byPassword,
      linkId: link?.id,
      guest: isGuest ? JSON.stringify([shareOf(remote), link?.id ?? '']) : undefined,
    }
  }

  /**
   * Returns the proof that the controller must check before admission: for a room that is not open on this node, and
   * for a caller with only a room number. Without a link, the result does not reveal whether the room exists.
   * @returns undefined if the room on this node decides
   * @throws Problem unauthorised, removed, tooMany
   */
  toBeAsked(roomId: string, caller: AdmissionCaller): RoomProof | undefined {
    const { token, hostPassword, remote } = caller
    const here = this.#rooms.find(roomId) !== undefined
    if (token !== '') {
      if (!here) this.#tokenOf(roomId, caller)
      return here ? undefined : { by: 'link' }
    }
    if (hostPassword !== '') {
      if (here) return undefined
      this.#assertGuessAllowed(roomId, caller)
      // Counted before the answer, so that many simultaneous guesses cannot exceed the limit.
      this.#countGuess(roomId, remote)
      return { by: 'password', password: hostPassword }
    }
    if (!this.#guesses.take(shareOf(remote))) throw this.#refuse('tooMany', roomId, caller)
    return { by: 'number', was_in: this.#identities.wasIn(roomId, caller) }
  }

  /** Removes a guess that `toBeAsked` or `countLook` counted, because the guess was right. */
  noteRight(roomId: string, proof: RoomProof, remote: string): void {
    const share = shareOf(remote)
    if (proof.by === 'link') return
    if (proof.by === 'password') this.#failures.forget(failureKey(share, roomId))
    this.#guesses.giveBack(share)
  }

  /**
   * Counts a look-up of a room by its number. The look-up counts as a wrong guess unless `noteRight` is called.
   * @throws Problem tooMany
   */
  countLook(roomId: string, remote: string): void {
    const share = shareOf(remote)
    if (this.#looks.take(share) && this.#guesses.take(share)) return
    throw this.#refuse('tooMany', roomId, { path: '/entry', remote })
  }

  #refuse(
    kind: Exclude<GuessKind, 'badLink'>,
    roomId: string,
    { path, remote }: Pick<AdmissionCaller, 'path' | 'remote'>,
  ): Problem {
    this.#refusals.note({ kind, path, roomId, remote })
    return new Problem(kind)
  }

  #countGuess(roomId: string, remote: string): void {
    const share = shareOf(remote)
    this.#failures.take(failureKey(share, roomId))
    this.#guesses.take(share)
  }

  #assertGuessAllowed(roomId: string, caller: AdmissionCaller): void {
    const share = shareOf(caller.remote)
    if (!this.#failures.reached(failureKey(share, roomId)) && !this.#guesses.reached(share)) return
    throw this.#refuse('tooMany', roomId, caller)
  }

  #tokenOf(
    roomId: string,
    { token: text, path, remote }: Pick<AdmissionCaller, 'token' | 'path' | 'remote'>,
  ): VerifiedToken<'join-token'> {
    const token = readToken('join-token', this.#key, text, Date.now())
    if (token?.room !== roomId) {
      // After a restart, a page first sends its old session key and then joins again. A session key cannot be guessed,
      // so this refusal is not reported.
      if (!hasSessionKeyForm(text)) this.#refusals.note({ kind: 'badLink', path, roomId, remote })
      throw new Problem('unauthorised', 'The join link is not valid or has expired.')
    }
    const { removals } = this.#rooms
    if (token.user !== undefined && removals.outdated(roomId, token.user, token.iat)) throw askForNewLink()
    if (removals.revoked(roomId, token.id) || removals.outdated(roomId, everybody, token.iat)) {
      throw new Problem('unauthorised', 'The join link was revoked: ask for a new one.')
    }
    return token
  }

  /** Returns the pass that later proves that the member was in this room. */
  passFor(roomId: string, member: RoomMember): string {
    return this.#identities.passFor(roomId, member)
  }

  /** Returns the claims of a link that is valid for a room now, or the reason for its refusal. */
  judgeLink(
    roomId: string,
    caller: Pick<AdmissionCaller, 'token' | 'path' | 'remote'>,
  ): VerifiedToken<'join-token'> | LinkRefusal {
    try {
      return this.#tokenOf(roomId, caller)
    } catch (error) {
      if (error instanceof Problem) return error.refusal === 'removed' ? 'removed' : 'unauthorised'
      throw error
    }
  }

  /**
   * Returns whether the given password is the room's; false if none was given.
   * @throws Problem hostPasswordWrong, tooMany
   */
  #isHost(roomId: string, caller: AdmissionCaller): boolean {
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

/** An admission with one of the given standings. */
export type AdmittedAs<S extends RoomStanding> = 'observer' extends S
  ? Admission
  : Exclude<Admission, { kind: 'observer' }>

/** Returns the admission if it has one of these standings. @throws Problem unauthorised */
export function admittedAs<S extends RoomStanding>(admission: Admission, allowed: readonly S[]): AdmittedAs<S> {
  const standing = standingOf(admission)
  if (allowed.some((one) => one === standing)) return admission as AdmittedAs<S>
  throw new Problem('unauthorised', standing === 'observer' ? 'This link is for watching only.' : undefined)
}

function standingOf(admission: Admission): RoomStanding {
  if (admission.kind === 'observer') return 'observer'
  return admission.kind === 'member' ? admission.member.standing : admission.identity.role
}

/** Returns the part of an address that the limits apply to. */
function shareOf(remote: string): string {
  return addressShare(plainAddress(remote))
}

function failureKey(share: string, roomId: string): string {
  return JSON.stringify([share, roomId])
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
