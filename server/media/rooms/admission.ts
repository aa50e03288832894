import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { addressShare, plainAddress } from '../../../shared/client-address.ts'
import type { JoinClaims } from '../../../shared/join-token.ts'
import { screenSuffix } from '../../../shared/media/signal.ts'
import { RateLimit } from '../../../shared/rate-limit.ts'
import { Problem } from '../problem.ts'
import type { Identity, Member } from './member.ts'
import type { MediaRooms } from './media-rooms.ts'
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
  /** Where the request comes from, for the limit of wrong passwords. */
  remote: string
}

/** Somebody who may come in, who is in (and becomes host where `host`), or who may watch unseen. */
export type Admission = { room: Room } & (
  | { kind: 'newcomer'; identity: Identity }
  | { kind: 'member'; member: Member; host: boolean }
  | { kind: 'observer' }
)

/** Wrong host passwords a minute, by address and room, and by address: guesses at rooms that do not exist count as well. */
const mostFailures = 10
const mostGuesses = 60
const windowMs = 60_000

/** Says who somebody is and whether they may come in at all; the room says whether there is space. */
export class AdmissionControl {
  readonly #rooms: MediaRooms
  readonly #key: Buffer
  readonly #failures = new RateLimit({ most: mostFailures, windowMs })
  readonly #guesses = new RateLimit({ most: mostGuesses, windowMs })
  /** Anybody may come in, for labs. */
  open: boolean

  constructor(rooms: MediaRooms, key: Buffer, open: boolean) {
    this.#rooms = rooms
    this.#key = key
    this.open = open
  }

  /**
   * Nothing is told of a room, not even whether there is one, to somebody without a session, a link or the password.
   * @throws Problem unauthorised, hostPasswordWrong, removed, tooMany, badRequest; noRoom for somebody with a link, and on an open node
   */
  admit(roomId: string, caller: Caller): Admission {
    const place = caller.token === '' ? undefined : this.#rooms.bySession(caller.token)
    if (place?.room.config.roomId === roomId) {
      return { ...place, kind: 'member', host: this.#isHost(roomId, caller) }
    }
    if (caller.token === '') return this.#withoutLink(roomId, caller)
    const token = this.#tokenOf(roomId, caller.token)
    const room = this.#rooms.get(roomId)
    if (token.role === 'observer') return { room, kind: 'observer' }
    const identity = this.#identity(roomId, token.user ?? caller.userId, token.name ?? caller.userName)
    const role = this.#isHost(roomId, caller) ? 'host' : token.role
    return {
      room,
      kind: 'newcomer',
      identity: { ...identity, role, bound: token.user !== undefined, tokenId: token.id },
    }
  }

  #withoutLink(roomId: string, caller: Caller): Admission {
    const open = this.open ? this.#openRoom(roomId, caller.remote) : undefined
    const host = this.#isHost(roomId, caller)
    const room = open ?? (host ? this.#rooms.find(roomId) : undefined)
    if (room === undefined) throw new Problem('unauthorised')
    const identity = this.#identity(roomId, caller.userId, caller.userName)
    const role = host ? 'host' : 'member'
    return { room, kind: 'newcomer', identity: { ...identity, role, bound: false, tokenId: undefined } }
  }

  /**
   * Somebody wants a room that is not open here. Without a link that is good for it, this says the same as where there is such a room and
   * the caller may not enter it.
   * @returns the host password that the controller must find right before it opens the room; null: the caller may enter
   * @throws Problem unauthorised, removed, tooMany
   */
  admitToMissing(roomId: string, { token, hostPassword, remote }: Caller): string | null {
    if (token !== '') {
      this.#tokenOf(roomId, token)
      return null
    }
    if (hostPassword !== '') {
      this.#assertGuessAllowed(roomId, remote)
      // Counted before the answer: of many guesses at once none passes the limit.
      this.#countGuess(roomId, remote)
      return hostPassword
    }
    if (!this.open) throw new Problem('unauthorised')
    if (!this.#guesses.take(addressShare(plainAddress(remote)))) throw new Problem('tooMany')
    return null
  }

  /** The host password that `admitToMissing` counted as a guess was right. */
  noteRightPassword(roomId: string, remote: string): void {
    this.#failures.forget(failureKey(addressShare(plainAddress(remote)), roomId))
  }

  /** Who tries room numbers is limited, where anybody may come in. @throws Problem noRoom, tooMany */
  #openRoom(roomId: string, remote: string): Room {
    const room = this.#rooms.find(roomId)
    if (room === undefined && !this.#guesses.take(addressShare(plainAddress(remote)))) throw new Problem('tooMany')
    return room ?? this.#rooms.get(roomId)
  }

  #countGuess(roomId: string, remote: string): void {
    const share = addressShare(plainAddress(remote))
    this.#failures.take(failureKey(share, roomId))
    this.#guesses.take(share)
  }

  #assertGuessAllowed(roomId: string, remote: string): void {
    const share = addressShare(plainAddress(remote))
    if (this.#failures.reached(failureKey(share, roomId)) || this.#guesses.reached(share)) throw new Problem('tooMany')
  }

  #tokenOf(roomId: string, text: string): JoinClaims {
    const token = verifyJoinToken(this.#key, text)
    if (token?.room !== roomId) throw new Problem('unauthorised', 'The join link is not valid or has expired.')
    if (this.#rooms.bans.revoked(roomId, token.user, token.id, token.iat)) {
      throw new Problem('removed', 'You were removed from this room: ask for a new join link.')
    }
    return token
  }

  #identity(roomId: string, wished: string | undefined, name: string): Pick<Identity, 'userId' | 'userName'> {
    if (wished?.endsWith(screenSuffix)) throw new Problem('badRequest', `A user id may not end with ${screenSuffix}.`)
    const userId = wished ?? `guest-${randomBytes(6).toString('hex')}`
    if (this.#rooms.bans.refuses(roomId, userId)) throw new Problem('removed')
    return { userId, userName: name === '' ? userId : name }
  }

  /** Whether the password that was given is the room's; false when none was given. @throws Problem hostPasswordWrong, tooMany */
  #isHost(roomId: string, { hostPassword, remote }: Caller): boolean {
    if (hostPassword === '') return false
    this.#assertGuessAllowed(roomId, remote)
    const expected = this.#rooms.find(roomId)?.config.hostPassword ?? ''
    const same = timingSafeEqual(sha256(expected), sha256(hostPassword))
    if (same && expected !== '') return true
    this.#countGuess(roomId, remote)
    throw new Problem('hostPasswordWrong')
  }
}

function failureKey(share: string, roomId: string): string {
  return JSON.stringify([share, roomId])
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
