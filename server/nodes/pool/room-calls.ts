import { ApiError } from '../../../shared/result-codes.ts'
import { Deadline } from '../../../shared/deadline.ts'
import { DeadlineError, within } from '../port/deadline.ts'
import { DeviceJoinError, type MediaNode, type NodeDevice, type NodeUser } from '../port/media-node-port.ts'
import { asApiError, isLostNode } from '../port/node-failure.ts'
import type { Relocation } from './choice/relocation.ts'
import type { RemovalsPort } from '../port/removals-port.ts'
import type { PoolContext } from './state/pool-context.ts'
import type { LiveNode } from './state/live-node.ts'

/**
 * Share of a node's deadline for a secondary node to list its users. If the node fails, the users that it last reported
 * are used instead.
 */
const secondaryPart = 1 / 4

/** One call to a driver. */
interface Call<T> {
  /** Name for the log. */
  name: string
  run: (driver: MediaNode, signal: AbortSignal) => Promise<T>
}

export interface RoomCallsDependencies {
  relocation: Pick<Relocation, 'moved'>
  removals: Pick<RemovalsPort, 'remove'> | undefined
}

/** Calls to the nodes of a room. Each call has one deadline in total, which all of its requests share. */
export class RoomCalls {
  readonly #context: PoolContext
  readonly #dependencies: RoomCallsDependencies

  constructor(context: PoolContext, dependencies: RoomCallsDependencies) {
    this.#context = context
    this.#dependencies = dependencies
  }

  /**
   * Sends the stored room to its nodes. An offline node gets the room later. A secondary node that fails gets the room
   * again in the background.
   * @throws ApiError
   */
  async update(roomId: string, signal?: AbortSignal): Promise<void> {
    const { index, live } = this.#context
    const deadline = this.#deadline(signal)
    const told = index.nodesOf(roomId).map(async (name, at) => {
      const node = live.get(name)
      if (!node?.serving) return
      const reporting = this.#translated(node, 'openRoom', signal, () => node.placement.open(roomId, deadline))
      // A failed secondary node gets the room again in the background.
      await (at === 0 ? reporting : reporting.catch(() => undefined))
    })
    await Promise.all(told)
  }

  /**
   * Removes all users from the room, and closes it on its nodes; also after its record was deleted. Offline nodes close
   * the room when they return. After a failure, closing is retried in the background.
   * @throws ApiError nodeTimeout, nodeOffline
   */
  async close(roomId: string, signal?: AbortSignal): Promise<void> {
    const { index, live } = this.#context
    const assigned = index.nodesOf(roomId)
    const deadline = this.#deadline(signal)
    const holders = [...live.values()].filter(
      (node) => node.online && (assigned.includes(node.name) || node.placement.mayHold(roomId)),
    )
    await Promise.all(
      holders.map((node) => this.#translated(node, 'closeRoom', signal, () => node.placement.close(roomId, deadline))),
    )
  }

  /**
   * Returns the users of a room in the order they joined. Requests them from the room's nodes, whereas presence answers
   * from memory. If a secondary node is slow, the users that it last reported are used instead.
   * @throws ApiError roomNotFound, neverAssigned, nodeOffline, nodeTimeout of the room's primary node
   */
  users(roomId: string, signal?: AbortSignal): Promise<NodeUser[]> {
    return this.#context.lifetime.orEnded(this.#usersOf(roomId, signal))
  }

  async #usersOf(roomId: string, signal: AbortSignal | undefined): Promise<NodeUser[]> {
    const { index, presence } = this.#context
    const deadline = this.#deadline(signal)
    const own = await this.#ownNode(roomId, deadline)
    const [, ...secondaries] = index.nodesOf(roomId)
    const asked = this.#ask(own, usersCall(roomId), deadline)
    if (secondaries.length === 0) return await asked
    const lists = await Promise.all([
      asked.then((users) => ({ node: own.name, users })),
      ...secondaries.map(async (node) => ({ node, users: await this.#usersAt(roomId, node, deadline) })),
    ])
    const users = new Map<string, NodeUser>()
    for (const { node, users: here } of lists) {
      for (const user of here) {
        // A user who moved between nodes is listed for the node on which they joined last.
        const isHere = (presence.sessionOf(roomId, user.userId)?.node ?? node) === node
        if (isHere || !users.has(user.userId)) users.set(user.userId, user)
      }
    }
    // Users who joined within one millisecond keep the order of their events.
    const told = new Map(presence.usersOf(roomId).map(({ userId }, at) => [userId, at]))
    const place = ({ userId }: NodeUser): number => told.get(userId) ?? told.size
    return [...users.values()].sort((one, other) => one.joinedAt - other.joinedAt || place(one) - place(other))
  }

  /**
   * Ends a user's connection, on any node of the room. Returns false if no such user is in the room. If the node is
   * lost meanwhile, the request is sent to the room's next node.
   * @throws ApiError roomNotFound, neverAssigned, nodeOffline, nodeTimeout
   */
  kick(roomId: string, userId: string, signal?: AbortSignal): Promise<boolean> {
    return this.#context.lifetime.orEnded(this.#kick(roomId, userId, signal))
  }

  async #kick(roomId: string, userId: string, signal: AbortSignal | undefined): Promise<boolean> {
    const { presence } = this.#context
    const deadline = this.#deadline(signal)
    const own = await this.#ownNode(roomId, deadline)
    const at = presence.sessionOf(roomId, userId)?.node
    try {
      return await this.#kickOn(own, roomId, userId, deadline)
    } catch (error) {
      if (!isLostNode(error)) throw error
      return await this.#translated(own, 'kick', signal, () =>
        within({ milliseconds: deadline.leftMs, signal }, (inner) =>
          this.#kickAgain(own, at, { roomId, userId }, deadline.with(inner)),
        ),
      )
    }
  }

  /**
   * Kicks the user again after the room's node was lost during the call. If the user was on that node, their connection
   * has ended; the removal is stored, so that they are refused for a while.
   */
  async #kickAgain(
    lost: LiveNode,
    at: string | undefined,
    { roomId, userId }: { roomId: string; userId: string },
    deadline: Deadline,
  ): Promise<boolean> {
    await lost.health.judged(deadline.signal)
    await this.#dependencies.relocation.moved(roomId)
    const next = await this.#ownNode(roomId, deadline)
    if (await this.#kickOn(next, roomId, userId, deadline)) return true
    if (at !== lost.name) return false
    // The driver of a Janus node stores removals of verified ids before it sends the request.
    await this.#dependencies.removals?.remove({ roomId, userId, proven: lost.config.kind !== 'janus' })
    return true
  }

  async #kickOn(own: LiveNode, roomId: string, userId: string, deadline: Deadline): Promise<boolean> {
    const { index, live, presence } = this.#context
    const at = presence.sessionOf(roomId, userId)?.node ?? own.name
    const nodes = index.nodesOf(roomId).flatMap((name) => {
      const node = live.get(name)
      return node?.serving ? [node] : []
    })
    const kick = {
      name: 'kick',
      run: (driver: MediaNode, inner: AbortSignal) => driver.kick(roomId, userId, inner),
    }
    const first = nodes.find(({ name }) => name === at) ?? own
    const others = nodes.filter((node) => node !== first)
    if (await this.#ask(first, kick, deadline)) {
      await this.#revoke(others, roomId, userId)
      return true
    }
    if (others.length === 0) return false
    // The user may be on a node that has not reported them yet.
    const answers = await Promise.allSettled(others.map((node) => this.#ask(node, kick, deadline)))
    return answers.some((answer) => answer.status === 'fulfilled' && answer.value)
  }

  /**
   * Adds a device to its room on the primary node; the room must have been assigned. Resolves when the device's media
   * flows.
   * @throws DeviceJoinError, of kind `timeout` if the node answered but the device did not; ApiError roomNotFound,
   * roomClosed, neverAssigned, nodeOffline, nodeTimeout
   */
  addDevice(roomId: string, device: NodeDevice, deadline: Deadline): Promise<void> {
    return this.#context.lifetime.orEnded(this.#addDevice(roomId, device, deadline))
  }

  async #addDevice(roomId: string, device: NodeDevice, deadline: Deadline): Promise<void> {
    const { signal } = deadline
    const node = await this.#ownNode(roomId, deadline)
    await this.#translated(node, 'addDevice', signal, async () => {
      if (!node.placement.isOpen(roomId) && !(await node.placement.open(roomId, deadline))) {
        throw new ApiError('roomClosed')
      }
    })
    await this.#callDevice(node, roomId, device, deadline.atMost(this.#context.deadlines().device_ms))
  }

  /**
   * Adds the device on a node that holds the room. If the deadline passes while the node answers polls, the device
   * counts as silent.
   */
  async #callDevice(node: LiveNode, roomId: string, device: NodeDevice, deadline: Deadline): Promise<void> {
    const startedAt = performance.now()
    // The node is polled at half of the time, to determine whether the node or the device is silent.
    const recheck = setTimeout(() => node.health.pollSoon(), deadline.leftMs / 2)
    recheck.unref()
    try {
      await this.#translated(node, 'addDevice', deadline.signal, () =>
        node.ask(deadline, (driver, inner) => driver.addDevice(roomId, device, deadline.with(inner))),
      )
    } catch (error) {
      const unanswered = error instanceof ApiError && error.code === 'nodeTimeout'
      if (!unanswered || node.health.lastSuccess < startedAt) throw error
      throw new DeviceJoinError('timeout', 'The device did not answer in time.', { cause: error })
    } finally {
      clearTimeout(recheck)
    }
  }

  /**
   * Removes a device from the room.
   * @throws ApiError roomNotFound, neverAssigned, nodeOffline, nodeTimeout
   */
  removeDevice(roomId: string, userId: string, signal?: AbortSignal): Promise<void> {
    const deadline = this.#deadline(signal)
    const run = (driver: MediaNode, inner: AbortSignal): Promise<void> => driver.removeDevice(roomId, userId, inner)
    const removed = this.#ownNode(roomId, deadline).then((node) =>
      this.#ask(node, { name: 'removeDevice', run }, deadline),
    )
    return this.#context.lifetime.orEnded(removed)
  }

  #deadline(signal: AbortSignal | undefined): Deadline {
    return Deadline.in(this.#context.deadlines().node_ms, signal)
  }

  /** Returns the room's primary node. Waits for its first poll, e.g. after a takeover. */
  async #ownNode(roomId: string, { leftMs: milliseconds, signal }: Deadline): Promise<LiveNode> {
    const { store, index, live } = this.#context
    const name = index.nodeOf(roomId)
    if (name === '') throw new ApiError(store.get('rooms', roomId) === undefined ? 'roomNotFound' : 'neverAssigned')
    const node = live.get(name)
    const { firstPoll } = node ?? {}
    if (node !== undefined && firstPoll !== undefined)
      await this.#translated(node, 'health', signal, () => within({ milliseconds, signal }, () => firstPoll))
    if (!node?.serving) throw new ApiError('nodeOffline')
    return node
  }

  /**
   * Returns the users of the room on a secondary node: the node's answer, or the users that it last reported.
   * @throws the signal's reason
   */
  async #usersAt(roomId: string, name: string, deadline: Deadline): Promise<readonly NodeUser[]> {
    const { live, presence, deadlines } = this.#context
    const node = live.get(name)
    const known = presence.usersAt(roomId, name)
    if (!node?.serving || !node.reliable) return known
    try {
      return await this.#ask(node, usersCall(roomId), deadline.atMost(deadlines().node_ms * secondaryPart))
    } catch (error) {
      if (deadline.signal.aborted) throw error
      return presence.usersAt(roomId, name)
    }
  }

  /** Revokes the credentials of a removed user on other nodes of the room. Waits only for reliable nodes. */
  async #revoke(nodes: readonly LiveNode[], roomId: string, userId: string): Promise<void> {
    const revoke: Call<void> = {
      name: 'revoke',
      run: async (driver, signal) => await driver.revoke?.(roomId, userId, signal),
    }
    const deadline = Deadline.in(this.#context.deadlines().node_ms * secondaryPart)
    await Promise.all(
      nodes.map(async (node) => {
        const revoked = this.#ask(node, revoke, deadline).catch((err: unknown) =>
          this.#context.logger.warn({ err, node: node.name, room: roomId }, 'a node was not told of a removed user'),
        )
        if (node.reliable) await revoked
      }),
    )
  }

  #ask<T>(node: LiveNode, { name, run }: Call<T>, deadline: Deadline): Promise<T> {
    return this.#translated(node, name, deadline.signal, () => node.ask(deadline, run))
  }

  async #translated<T>(
    node: LiveNode,
    name: string,
    signal: AbortSignal | undefined,
    run: () => Promise<T>,
  ): Promise<T> {
    try {
      return await run()
    } catch (error) {
      if (signal?.aborted && !(error instanceof DeadlineError)) throw signal.reason
      throw asApiError(error, { node: node.name, name }, this.#context.logger)
    }
  }
}

function usersCall(roomId: string): Call<NodeUser[]> {
  return { name: 'users', run: (driver, signal) => driver.users(roomId, signal) }
}
