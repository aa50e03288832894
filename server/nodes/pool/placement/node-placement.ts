import { LoopFailures, NodeComparison, RoomsToCheck } from './node-placement-state.ts'
import { Deadline } from '../../../../shared/deadline.ts'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import type { StoredRoom } from '../../../store/records.ts'
import { DeadlineError, within } from '../../port/deadline.ts'
import { isShut } from '../../../schedule/room-hours.ts'
import { runWithConcurrency } from '../../port/concurrency.ts'
import { isNodeRefusal, type MediaNode, NodeConnectionError, type NodeHealth } from '../../port/media-node-port.ts'
import { describeFailure } from '../../port/node-failure.ts'
import type { LivePlacement, PlacedNode } from '../state/live-node.ts'
import type { PoolContext } from '../state/pool-context.ts'
import { isSecondary } from '../state/room-nodes.ts'
import {
  isCurrent,
  isHeld,
  openingPlacement,
  RoomDrift,
  type RoomPlacement,
  takeHeld,
  toNodeRoom,
} from './room-placement.ts'
import { readPresence } from './reported-users.ts'

/** Maximum number of rooms of a node that are reconciled with the store at the same time. */
const laneCount = 32
/**
 * Maximum number of consecutive steps for one room. A room that changes faster is corrected further at its next change.
 */
const stepsAtMost = 10

/**
 * The rooms of one node: **one state per room, and one loop that makes it match the store**. The desired state is read
 * from the store each time and never cached; a changed record calls `follow`. The actual state is the node's last
 * report. The loop works while the node is online, and retries after the next successful poll. If the node reconnects,
 * or reports another number of rooms, its list of rooms is read first.
 */
export class NodePlacement implements LivePlacement {
  readonly #node: PlacedNode
  readonly #context: PoolContext
  readonly #rooms = new Map<string, RoomPlacement>()
  readonly #toCheck = new RoomsToCheck()
  /** Pending corrections, by room. Concurrent callers share an attempt. */
  #work = new Map<string, Promise<void>>()
  /** Aborts when the node is lost, which invalidates the state of its rooms. */
  #connection = new AbortController()
  readonly #failures: LoopFailures
  readonly #drift: RoomDrift
  readonly #comparison = new NodeComparison()
  #looping = false
  /** Time of the node's last answer about any room, on the clock of `performance.now()`. */
  #answeredAt = 0

  constructor(node: PlacedNode, context: PoolContext) {
    this.#node = node
    this.#context = context
    this.#failures = new LoopFailures(node.name, context.logger)
    this.#drift = new RoomDrift(node, context)
  }

  /** Returns whether this node should hold the room, according to the store or a pending assignment. O(1). */
  wants(roomId: string): boolean {
    return this.#wanted(roomId) !== undefined
  }

  /** Returns whether the node holds the room, and keeps it. O(1). */
  isOpen(roomId: string): boolean {
    return isHeld(this.#rooms.get(roomId))
  }

  /** Returns whether the node holds the room, or may hold it. O(1). */
  mayHold(roomId: string): boolean {
    return this.#rooms.has(roomId)
  }

  /** Marks the room as due, because its record may have changed. O(1). */
  follow(roomId: string): void {
    const room = this.#rooms.get(roomId)
    const wanted = this.#wanted(roomId)
    if (wanted === undefined) {
      if (room === undefined) return
      // Set immediately: users must be removed even if the room is wanted again before the loop handles it.
      room.state = 'closing'
    } else if (isCurrent(room, wanted)) return
    if (!this.#comparison.isKnown) return
    this.#toCheck.markDue(roomId)
    this.#loop()
  }

  /** Records that the node reported a change of this user. O(1). */
  noteUser(roomId: string, userId: string): void {
    this.#rooms.get(roomId)?.heard?.add(userId)
  }

  recheck(roomId: string): void {
    const room = this.#rooms.get(roomId)
    if (room === undefined) return
    room.presenceKnown = false
    this.#toCheck.markForPoll(roomId)
  }

  healthy(health: NodeHealth, askedAt: number): void {
    this.#failures.renew()
    this.#toCheck.polled()
    if (!this.#comparison.isKnown || this.#miscounted(health, askedAt)) mustNotFail(this.#compare())
    else this.#loop()
  }

  forget(): void {
    this.#connection.abort(new NodeConnectionError('the node was lost'))
    this.#connection = new AbortController()
    this.#work = new Map()
    this.#rooms.clear()
    this.#toCheck.clear()
    this.#comparison.forget()
    this.#failures.renew()
    this.#drift.forget()
  }

  async open(roomId: string, deadline: Deadline): Promise<StoredRoom | undefined> {
    for (let steps = 0; steps < stepsAtMost; steps += 1) {
      const wanted = this.#wanted(roomId)
      if (wanted === undefined || isCurrent(this.#rooms.get(roomId), wanted)) return wanted
      await this.#waitFor(roomId, deadline)
    }
    return this.#wanted(roomId)
  }

  async close(roomId: string, deadline: Deadline): Promise<void> {
    const room = this.#rooms.get(roomId) ?? { ...openingPlacement(this.#comparison.isKnown), mayHold: true }
    room.state = 'closing'
    this.#rooms.set(roomId, room)
    while (this.#rooms.get(roomId) === room) {
      try {
        await this.#waitFor(roomId, deadline)
      } catch (error) {
        // If the node was lost meanwhile, the room is closed when the node returns.
        if (this.#rooms.get(roomId) === room) throw error
      }
    }
  }

  /** Closes every room on a leaving node, and notifies its people. Rooms that fail stay. Never rejects. */
  async closeAll(deadline: Deadline): Promise<void> {
    const rooms = [...this.#rooms.keys()]
    await runWithConcurrency(
      laneCount,
      () => (deadline.signal.aborted || deadline.hasPassed ? undefined : rooms.shift()),
      async (roomId) => {
        // The loop logs failures. The driver is closed shortly in any case.
        await this.close(roomId, deadline).catch(() => undefined)
      },
    )
  }

  /** Returns the stored room if the node should hold it; otherwise undefined. */
  #wanted(roomId: string): StoredRoom | undefined {
    const { store, index } = this.#context
    const room = store.get('rooms', roomId)
    const { name, leaving } = this.#node
    if (room === undefined || isShut(room) || leaving) return undefined
    const holds = room.node === name || isSecondary(room, name)
    return holds || index.reservedOn(roomId).includes(name) ? room : undefined
  }

  /** Makes one attempt to correct the room within the caller's time. */
  async #waitFor(roomId: string, deadline: Deadline): Promise<void> {
    const { leftMs: milliseconds, signal } = deadline
    if (milliseconds === 0) throw new DeadlineError(this.#context.deadlines().node_ms)
    const begunBefore = this.#work.has(roomId)
    const connection = this.#connection.signal
    try {
      await within({ milliseconds, signal }, () => this.#settle(roomId))
    } catch (error) {
      if (!connection.aborted) this.#toCheck.markForPoll(roomId)
      // If the failed attempt was started by another caller or on a lost connection, the caller makes another attempt.
      const another = (begunBefore || connection.aborted) && this.#node.online
      if (!another || signal.aborted || deadline.hasPassed) throw error
    }
  }

  /**
   * Makes the room on this node match the store. Concurrent callers share one attempt.
   * @throws DeadlineError, NodeError
   */
  #settle(roomId: string): Promise<void> {
    const underWay = this.#work.get(roomId)
    if (underWay !== undefined) return underWay
    const work = this.#work
    const attempt = this.#makeRight(roomId, this.#connection.signal).finally(() => work.delete(roomId))
    work.set(roomId, attempt)
    return attempt
  }

  async #makeRight(roomId: string, signal: AbortSignal): Promise<void> {
    for (let steps = 0; steps < stepsAtMost; steps += 1) {
      signal.throwIfAborted()
      const wanted = this.#wanted(roomId)
      const room = this.#rooms.get(roomId)
      if (room?.state === 'closing' || (room !== undefined && wanted === undefined)) {
        await this.#closeOn(roomId, room, signal)
      } else if (wanted === undefined || isCurrent(room, wanted)) return
      else await this.#openOn(wanted, signal)
    }
  }

  async #openOn(wanted: StoredRoom, signal: AbortSignal): Promise<void> {
    const roomId = wanted.room_id
    const told = toNodeRoom(wanted, this.#context.store)
    const room = this.#rooms.get(roomId) ?? openingPlacement(this.#comparison.isKnown)
    this.#rooms.set(roomId, room)
    try {
      await this.#ask(signal, (driver, inner) => driver.openRoom(told, inner))
    } catch (error) {
      if (!isNodeRefusal(error)) room.mayHold = true
      else if (!room.mayHold && this.#rooms.get(roomId) === room) this.#rooms.delete(roomId)
      throw error
    }
    room.told = wanted
    room.mayHold = true
    room.answeredAt = this.#answeredAt
    if (room.state === 'opening') room.state = 'open'
  }

  async #closeOn(roomId: string, room: RoomPlacement, signal: AbortSignal): Promise<void> {
    const { presence, events } = this.#context
    const { name } = this.#node
    room.state = 'closing'
    const stored = this.#context.store.get('rooms', roomId)
    const moves = stored !== undefined && !isShut(stored)
    await this.#ask(signal, (driver, inner) => driver.closeRoom(roomId, inner, moves))
    this.#rooms.delete(roomId)
    events.emitDepartures(name, presence.clear(roomId, name))
  }

  /** Sends one request with a node's deadline. Rejects if the connection was lost meanwhile. */
  async #ask<T>(signal: AbortSignal, run: (driver: MediaNode, signal: AbortSignal) => Promise<T>): Promise<T> {
    const answer = await this.#node.ask(Deadline.in(this.#context.deadlines().node_ms, signal), run)
    signal.throwIfAborted()
    this.#answeredAt = performance.now()
    return answer
  }

  /**
   * Checks every due room in the background. Starts after the current tick, because a caller that changed a room often
   * waits for it as well.
   */
  #loop(): void {
    const mayRun = this.#toCheck.hasDue && this.#failures.rest === undefined && this.#comparison.isKnown
    if (this.#looping || !mayRun) return
    this.#looping = true
    setImmediate(() => {
      this.#runWithConcurrency(() => this.#toCheck.take())
        .catch((error: unknown) => this.#failures.unexpected(error))
        .finally(() => {
          this.#looping = false
          this.#loop()
        })
    })
  }

  async #runWithConcurrency(take: () => string | undefined): Promise<void> {
    const { signal } = this.#connection
    const next = (): string | undefined => (signal.aborted || this.#failures.rest !== undefined ? undefined : take())
    this.#failures.begin()
    await runWithConcurrency(laneCount, next, (roomId) => this.#lookAt(roomId, signal))
    this.#failures.end()
  }

  /** Corrects a room, and reads its users. A failure does not delay the other rooms. */
  async #lookAt(roomId: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#settle(roomId)
      await this.#readUsers(roomId, signal)
    } catch (error) {
      if (signal.aborted) return
      this.#toCheck.markForPoll(roomId)
      this.#failures.note(roomId, error)
    }
  }

  async #readUsers(roomId: string, signal: AbortSignal): Promise<void> {
    const room = this.#rooms.get(roomId)
    if (room?.state !== 'open' || room.presenceKnown) return
    await readPresence(this.#context, { node: this.#node.name, roomId }, room, {
      ask: () => this.#ask(signal, (driver, inner) => driver.users(roomId, inner)),
      isStill: () => this.#rooms.get(roomId) === room && this.wants(roomId),
    })
  }

  /**
   * Reads the node's list of rooms, and corrects all rooms. Rooms that stay on the node come first, so that devices can
   * join there.
   */
  async #compare(): Promise<void> {
    if (!this.#comparison.begin()) return
    const { signal } = this.#connection
    const { events, index, logger } = this.#context
    const { name } = this.#node
    try {
      await this.#readRooms(signal)
      const own = [...this.#rooms].filter(([roomId, room]) => !room.presenceKnown && this.wants(roomId))
      const ids = own.map(([roomId]) => roomId).values()
      await this.#runWithConcurrency(() => ids.next().value)
      signal.throwIfAborted()
      if (this.#failures.rest !== undefined) throw this.#failures.rest.error
      if (this.#comparison.succeed()) {
        events.emit({ type: 'online', name })
        logger.info({ node: name, kept: own.length, rooms: index.count(name) }, 'a node is compared with the store')
      }
      for (const [roomId, room] of this.#rooms) if (room.state !== 'open') this.#toCheck.markDue(roomId)
      for (const roomId of index.roomsOf(name)) this.follow(roomId)
      this.#loop()
    } catch (error) {
      if (signal.aborted) return
      const fields = { node: name, error: describeFailure(error) }
      logger.warn(fields, 'a node could not be compared with the store: tried again after the next good poll')
    } finally {
      if (!signal.aborted) this.#comparison.fail()
    }
  }

  /** Applies the node's list of rooms. Rooms that changed during the request keep their newer state. */
  async #readRooms(signal: AbortSignal): Promise<void> {
    const { presence, events } = this.#context
    const { name } = this.#node
    const askedAt = performance.now()
    const held = new Set(await this.#ask(signal, (driver, inner) => driver.rooms(inner)))
    const known = {
      wants: (roomId: string) => this.wants(roomId),
      mayBeNewer: (roomId: string, { answeredAt }: RoomPlacement) => this.#work.has(roomId) || answeredAt >= askedAt,
    }
    this.#drift.compare(this.#rooms, held, known)
    takeHeld(this.#rooms, held, known)
    for (const roomId of presence.roomsOn(name)) {
      if (this.#rooms.has(roomId)) continue
      events.emitDepartures(name, presence.clear(roomId, name), 'The MCU was restarted.')
    }
  }

  /**
   * Returns whether the node's number of rooms differs from the known number, although no request was pending during
   * the poll.
   */
  #miscounted(health: NodeHealth, askedAt: number): boolean {
    if (this.#work.size > 0 || this.#toCheck.hasDue || this.#looping || this.#answeredAt >= askedAt) return false
    return this.#drift.isMiscounted(health.rooms, this.#rooms.size)
  }
}
