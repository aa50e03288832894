import { Deadline } from '../../../../shared/deadline.ts'
import { ApiError } from '../../../../shared/result-codes.ts'
import type { StoredRoom } from '../../../store/records.ts'
import { isShut } from '../../../schedule/room-hours.ts'
import { type ChoiceOptions, chooseNode, type Eligibility, secondariesBeside, successorOf } from './choose-node.ts'
import { unlessAborted } from '../../../../shared/abort.ts'
import { DeadlineError } from '../../port/deadline.ts'
import { NodeError } from '../../port/media-node-port.ts'
import { carriesMedia } from '../../port/node-driver.ts'
import { asApiError, describeFailure } from '../../port/node-failure.ts'
import { onNodes } from '../state/room-nodes.ts'
import type { PoolContext } from '../state/pool-context.ts'
import type { LiveNode } from '../state/live-node.ts'

export interface AssignOptions extends ChoiceOptions {
  /** Number of expected users, who were in the room on its previous node. */
  users?: number | undefined
}

/** State of one attempt to assign a node to a room. */
interface Attempt {
  roomId: string
  idcCode: string
  withoutMedia: boolean
  avoid: ChoiceOptions['avoid']
  users: number | undefined
  deadline: Deadline
  /** Names of nodes that must not be chosen: nodes excluded by the caller, and nodes that failed in this attempt. */
  excluded: Set<string>
  /** Whether a node failed in this attempt. */
  failed: boolean
  /**
   * First node that did not answer within its part of the deadline. This node is tried again if no other node is left.
   */
  slow: LiveNode | undefined
}

/** Criteria for a node; see ChoiceOptions. */
interface Sought extends Omit<ChoiceOptions, 'exclude'> {
  excluded?: ReadonlySet<string>
}

/**
 * Share of the deadline in which a new node must open a room. Then another node is tried, because the first may hang.
 */
const firstTry = 1 / 4
/** Expected users in an empty room, as a share of the average of occupied rooms. Some rooms stay empty. */
const expectedPart = 0.5

/**
 * Assigns a primary node to each room, and keeps it while the node is online (contract, section 3: get_mcu). If the
 * primary node fails, a secondary node of the room replaces it, if available; people on the secondary node stay
 * connected.
 */
export class Assigner {
  readonly #context: PoolContext
  readonly #eligibility: Eligibility
  /** Attempts in progress, by room. Concurrent callers share an attempt. */
  readonly #attempts = new Map<string, Promise<string>>()

  constructor(context: PoolContext, eligibility: Eligibility) {
    this.#context = context
    this.#eligibility = eligibility
  }

  /**
   * Returns the name of the room's primary node, which holds the room. Assigns a node if the room has no online node.
   * Resolves when the assignment is on disk. Concurrent calls share one attempt.
   * @throws ApiError roomNotFound, roomClosed, noNode, licenceExceeded, nodeTimeout, storage; the signal's reason
   */
  assign(roomId: string, options: AssignOptions = {}, signal?: AbortSignal): Promise<string> {
    return this.#context.lifetime.orEnded(this.#assign(roomId, options, signal))
  }

  async #assign(roomId: string, options: AssignOptions, signal: AbortSignal | undefined): Promise<string> {
    const room = this.#existing(roomId)
    const current = this.#keeper(room, options)
    if (current?.placement.isOpen(roomId)) return current.name
    let attempt = this.#attempts.get(roomId)
    if (attempt === undefined) {
      attempt = this.#run(roomId, options).finally(() => this.#attempts.delete(roomId))
      this.#attempts.set(roomId, attempt)
    }
    return unlessAborted(attempt, signal)
  }

  #existing(roomId: string): StoredRoom {
    const room = this.#context.store.get('rooms', roomId)
    if (room === undefined) throw new ApiError('roomNotFound')
    if (isShut(room)) throw new ApiError('roomClosed')
    return room
  }

  /**
   * Returns the node on which the room stays; undefined if the room needs another node. The node must be online. Three
   * kinds of nodes keep a room only while people are in it: draining nodes, nodes without media if the site has media
   * nodes, and nodes to avoid if there is an alternative.
   */
  #keeper(room: StoredRoom, { withoutMedia = false, avoid }: Sought): LiveNode | undefined {
    const node = this.#context.live.get(room.node)
    if (!node?.serving) return undefined
    if (
      node.config.kind === avoid &&
      !this.#hasPeople(room) &&
      this.#ofAnotherKind(room, { withoutMedia, avoid }) !== undefined
    )
      return undefined
    if (this.#eligibility.mayHave(node, room, withoutMedia)) {
      return node.takesRooms || (this.#hasPeople(room) && this.#successor(room) === undefined) ? node : undefined
    }
    return !carriesMedia(node.config) && this.#hasPeople(room) ? node : undefined
  }

  #hasPeople({ room_id }: StoredRoom): boolean {
    return this.#context.presence.peopleIn(room_id) > 0
  }

  #successor(room: StoredRoom, excluded?: ReadonlySet<string>): LiveNode | undefined {
    return room.branches === undefined ? undefined : successorOf(this.#context, this.#eligibility, room, excluded)
  }

  async #run(roomId: string, options: AssignOptions): Promise<string> {
    const { index, expected, deadlines, logger } = this.#context
    const attempt: Attempt = {
      roomId,
      idcCode: options.idcCode ?? '',
      withoutMedia: options.withoutMedia ?? false,
      avoid: options.avoid,
      users: options.users,
      deadline: Deadline.in(deadlines().node_ms),
      excluded: new Set(options.exclude),
      failed: false,
      slow: undefined,
    }
    for (;;) {
      const unasked = this.#unasked(attempt)
      if (unasked !== undefined) {
        await unasked
        continue
      }
      const node = this.#next(attempt)
      const patience = this.#patience(node, attempt)
      index.reserve(roomId, node.name)
      this.#expectUsers(node, attempt)
      let taken = false
      try {
        taken = await this.#tryOn(node, attempt, patience)
        if (taken) return node.name
      } catch (error) {
        if (error instanceof DeadlineError && patience.until < attempt.deadline.until && !attempt.deadline.hasPassed) {
          attempt.slow ??= node
          node.unanswered()
        } else if (!(error instanceof NodeError)) {
          throw asApiError(error, { node: node.name, name: 'openRoom' }, logger)
        }
        logger.warn({ node: node.name, error: describeFailure(error) }, 'a node did not take a room')
      } finally {
        if (!taken) expected.forget(roomId)
        index.release(roomId, node.name)
        // Closes the room on a node that did not become its primary node.
        node.placement.follow(roomId)
      }
      attempt.excluded.add(node.name)
      attempt.failed = true
    }
  }

  /**
   * Returns the poll to wait for after a takeover: the first poll of the room's primary node or, if no suitable node is
   * known to be online, the first poll of any node. undefined: no wait is necessary.
   */
  #unasked(attempt: Attempt): Promise<void> | undefined {
    const { live } = this.#context
    const own = live.get(this.#existing(attempt.roomId).node)
    // The room continues on its node, instead of being opened on another node.
    if (own?.resumes && own.firstPoll !== undefined) return own.firstPoll
    const unasked = [...live.values()].flatMap(({ firstPoll }) => firstPoll ?? [])
    if (unasked.length === 0) return undefined
    try {
      this.#next(attempt)
      return undefined
    } catch (error) {
      if (!(error instanceof ApiError && (error.code === 'noNode' || error.code === 'licenceExceeded'))) throw error
      return Promise.race(unasked)
    }
  }

  /**
   * Returns the deadline for the node to open the room. If another node may be tried instead, the node gets only a part
   * of the attempt's deadline.
   */
  #patience(node: LiveNode, { roomId, deadline, slow }: Attempt): Deadline {
    const keeps = this.#context.index.nodeOf(roomId) === node.name
    return keeps || node === slow ? deadline : deadline.atMost(this.#context.deadlines().node_ms * firstTry)
  }

  /** Records the number of users who will join the room shortly. */
  #expectUsers(node: LiveNode, { roomId, users }: Attempt): void {
    const { presence, expected } = this.#context
    if (presence.occupied(roomId)) return
    const { people, devices } = presence.totals()
    const average = presence.occupiedRooms === 0 ? 0 : (people + devices) / presence.occupiedRooms
    expected.expect(roomId, node.name, users ?? average * expectedPart)
  }

  /**
   * Returns the next node to try.
   * @throws ApiError noNode, licenceExceeded
   */
  #next(attempt: Attempt): LiveNode {
    const { withoutMedia, excluded, slow } = attempt
    const room = this.#existing(attempt.roomId)
    const keeper = this.#keeper(room, attempt)
    if (keeper !== undefined && !excluded.has(keeper.name)) return keeper
    const successor = this.#successor(room, excluded)
    if (successor !== undefined && (successor.config.kind !== attempt.avoid || this.#hasPeople(room))) return successor
    this.#context.expected.expire()
    const other = this.#ofAnotherKind(room, attempt)
    if (other !== undefined) return other
    const candidates = this.#eligibility.candidates(room, withoutMedia)
    const choice = chooseNode(candidates, { idcCode: attempt.idcCode, exclude: excluded })
    if (choice.ok) return choice.node
    // If no other node is available, a draining node keeps the room.
    const draining = this.#context.live.get(room.node)
    const stays = draining?.serving && this.#eligibility.mayHave(draining, room, withoutMedia)
    if (stays && !excluded.has(draining.name)) return draining
    if (slow?.takesRooms && !attempt.deadline.hasPassed) return slow
    // If a node with capacity failed, the reason is that failure, not the licence.
    throw new ApiError(attempt.failed ? 'noNode' : choice.reason)
  }

  /** Returns a node of another kind than `avoid`; undefined if there is no such node, or `avoid` is undefined. */
  #ofAnotherKind(room: StoredRoom, { withoutMedia = false, avoid, idcCode, excluded }: Sought): LiveNode | undefined {
    if (avoid === undefined) return undefined
    const others = [...this.#eligibility.candidates(room, withoutMedia)].filter(({ config }) => config.kind !== avoid)
    const choice = chooseNode(others, { idcCode, exclude: excluded })
    return choice.ok ? choice.node : undefined
  }

  /** Opens the room on the node and stores the assignment. Resolves to false if the node was lost meanwhile. */
  async #tryOn(node: LiveNode, { roomId, deadline }: Attempt, patience: Deadline): Promise<boolean> {
    const told = await node.placement.open(roomId, patience)
    if (told === undefined) {
      this.#existing(roomId)
      return false
    }
    if (told.node === node.name) return true
    if (!(await this.#store(node, roomId))) return false
    // If the record changed meanwhile, the node gets the new record. The node may also have left service.
    return (await node.placement.open(roomId, deadline)) !== undefined
  }

  /** Stores the assignment. Resolves to false if the node was lost or started to drain meanwhile. */
  #store(node: LiveNode, roomId: string): Promise<boolean> {
    const { store, live } = this.#context
    return store.transact([`rooms/${roomId}`], (transaction) => {
      const room = this.#existing(roomId)
      if (live.get(node.name) !== node || !node.takesRooms) return false
      const secondaries = secondariesBeside(this.#context, this.#eligibility, room, node)
      transaction.put('rooms', roomId, onNodes(room, node.name, secondaries))
      return true
    })
  }
}
