import type { ControlMethod, ControlParams } from '../../../shared/media/control.ts'
import type { RemoteRoom } from '../../../shared/media/remote-media.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import type { NodeUser } from '../port/media-node-port.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import type { RemoteFeed } from '../port/room-media.ts'

/** Sends a request to the program of a node. */
export type RequestGateway = <M extends ControlMethod>(
  gateway: string,
  method: M,
  params: ControlParams<M>,
) => Promise<unknown>

/** Requests to the programs of the room page. Requests to one program are sent one after the other. */
export class GatewayRequests {
  readonly #request: RequestGateway
  readonly #logger: NodeLogger
  readonly #last = new Map<string, Promise<unknown>>()

  constructor(request: RequestGateway, logger: NodeLogger) {
    this.#request = request
    this.#logger = logger
  }

  /**
   * Sends a request after the previous ones.
   * @throws the error of the request
   */
  send<M extends ControlMethod>(gateway: string, method: M, params: ControlParams<M>): Promise<unknown> {
    const sent = (this.#last.get(gateway) ?? Promise.resolve()).then(() => this.#request(gateway, method, params))
    const settled = sent.catch((error: unknown) => {
      this.#logger.debug({ err: error, node: gateway, method }, 'request to the program of the room page failed')
    })
    this.#last.set(gateway, settled)
    const forgotten = settled.then(() => {
      if (this.#last.get(gateway) === settled) this.#last.delete(gateway)
    })
    mustNotFail(forgotten)
    return sent
  }

  /** Sends a request without waiting for the result. A failure is logged. */
  notify<M extends ControlMethod>(gateway: string, method: M, params: ControlParams<M>): void {
    // A failure was logged.
    this.send(gateway, method, params).catch(() => {})
  }
}

/** People in rooms with remote media, and the program through which each entered. */
export class GatewayPeople {
  /** Program by room and user. */
  readonly #people = new Map<string, Map<string, string>>()
  /** Ids of users who left but are still listed by their node, by room. */
  readonly #going = new Map<string, Set<string>>()

  /** Returns the program through which a user entered; undefined if there is none, or the user left. */
  gatewayOf(roomId: string, userId: string): string | undefined {
    return this.#people.get(roomId)?.get(userId)
  }

  entered(roomId: string, userId: string, gateway: string): void {
    const people = this.#people.get(roomId) ?? new Map<string, string>()
    this.#people.set(roomId, people.set(userId, gateway))
    this.reported(roomId, userId)
  }

  /**
   * Records that a user left.
   * @param listed whether their node still lists them
   * @returns the program through which they entered; undefined: none
   */
  forget(roomId: string, userId: string, listed: boolean): string | undefined {
    const people = this.#people.get(roomId)
    const gateway = people?.get(userId)
    people?.delete(userId)
    if (people?.size === 0) this.#people.delete(roomId)
    if (listed) {
      const going = this.#going.get(roomId) ?? new Set<string>()
      this.#going.set(roomId, going.add(userId))
    }
    return gateway
  }

  /** Returns whether a user left while their node still lists them. */
  isGoing(roomId: string, userId: string): boolean {
    return this.#going.get(roomId)?.has(userId) === true
  }

  /** Records that the user's node reported a change of this user. */
  reported(roomId: string, userId: string): void {
    const going = this.#going.get(roomId)
    going?.delete(userId)
    if (going?.size === 0) this.#going.delete(roomId)
  }

  /** Returns all users who entered through a program. */
  through(gateway: string): { roomId: string; userId: string }[] {
    return [...this.#people].flatMap(([roomId, people]) =>
      [...people].flatMap(([userId, by]) => (by === gateway ? [{ roomId, userId }] : [])),
    )
  }
}

/**
 * Returns a room in the form sent to a program.
 * @param people without users of that program
 * @param isProven returns whether a person's id is verified
 * @param hasSmall returns whether a smaller picture of a user's video is available
 */
export function remoteRoom(
  roomId: string,
  people: readonly NodeUser[],
  feeds: readonly RemoteFeed[],
  isProven: (userId: string) => boolean,
  hasSmall: (userId: string) => boolean,
): RemoteRoom {
  return {
    roomId,
    people: people.map(({ userId, userName, device, role, byNumber = false, joinedAt }) => ({
      userId,
      userName,
      device,
      role,
      byNumber,
      // A hand can be lowered only through the user's own program.
      hand: 0,
      joinedAt,
      proven: device || isProven(userId),
    })),
    streams: feeds.map(({ userId, source, videoCodec, audioCodec, videoMuted, audioMuted, tellsLevel, speaks }) => ({
      userId,
      source,
      videoCodec: videoCodec.toUpperCase(),
      audioCodec: audioCodec.toUpperCase(),
      videoMuted,
      audioMuted,
      tellsLevel,
      speaks,
      small: source === 'main' && hasSmall(userId),
    })),
  }
}
