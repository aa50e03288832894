import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { addressShare, plainAddress } from '../../../shared/client-address.ts'
import type { JoinClaims } from '../../../shared/join-token.ts'
import { RateLimit } from '../../../shared/rate-limit.ts'
import { Problem } from '../problem.ts'
import type { Identity, Member } from './member.ts'
import type { MediaRooms } from './media-rooms.ts'
import { type Room, screenSuffix } from './room.ts'
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

/** Somebody who may come in, who is in, or who may watch unseen. */
export type Admission =
  | { kind: 'newcomer'; identity: Identity }
  | { kind: 'member'; member: Member }
  | { kind: 'observer' }

/** Wrong host passwords a minute, address and room. */
const mostFailures = 10

/** Says who somebody is and whether they may come in at all; the room says whether there is space. */
export class AdmissionControl {
  readonly #rooms: MediaRooms
  readonly #key: Buffer
  readonly #failures = new RateLimit({ most: mostFailures, windowMs: 60_000 })
  /** Anybody may come in, for labs. */
  open: boolean

  constructor(rooms: MediaRooms, key: Buffer, open: boolean) {
    this.#rooms = rooms
    this.#key = key
    this.open = open
  }

  /** @throws Problem unauthorised, hostPasswordWrong, removed, tooMany, badRequest */
  admit(room: Room, caller: Caller): Admission {
    const { roomId } = room.config
    const member = caller.token === '' ? undefined : this.#rooms.memberBySession(roomId, caller.token)
    if (member !== undefined) return { kind: 'member', member }
    if (caller.token !== '') {
      const token = this.#tokenOf(roomId, caller.token)
      if (token.role === 'observer') return { kind: 'observer' }
      const identity = this.#identity(roomId, token.user ?? caller.userId, token.name ?? caller.userName)
      const role = caller.hostPassword !== '' && this.#isHost(room, caller) ? 'host' : token.role
      return { kind: 'newcomer', identity: { ...identity, role, bound: token.user !== undefined, tokenId: token.id } }
    }
    const host = caller.hostPassword !== '' && this.#isHost(room, caller)
    if (!host && !this.open) throw new Problem('unauthorised')
    const identity = this.#identity(roomId, caller.userId, caller.userName)
    return {
      kind: 'newcomer',
      identity: { ...identity, role: host ? 'host' : 'member', bound: false, tokenId: undefined },
    }
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

  #isHost(room: Room, { hostPassword, remote }: Caller): boolean {
    const key = JSON.stringify([addressShare(plainAddress(remote)), room.config.roomId])
    if (this.#failures.reached(key)) throw new Problem('tooMany')
    const expected = room.config.hostPassword
    if (expected !== '' && timingSafeEqual(sha256(expected), sha256(hostPassword))) return true
    this.#failures.take(key)
    throw new Problem('hostPasswordWrong')
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
