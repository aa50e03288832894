import { Deadline } from '../../../../shared/deadline.ts'
import { ApiError } from '../../../../shared/result-codes.ts'
import type { StoredRoom } from '../../../store/records.ts'
import { isShut } from '../../../schedule/room-hours.ts'
import { unlessAborted } from '../../../../shared/abort.ts'
import { DeadlineError } from '../../port/deadline.ts'
import { NodeError } from '../../port/media-node-port.ts'
import { describeFailure } from '../../port/node-failure.ts'
import { nodesOfRoom, onNodes } from '../state/room-nodes.ts'
import type { PoolContext } from '../state/pool-context.ts'
import type { LiveNode } from '../state/live-node.ts'
import type { Assigner } from './assigner.ts'
import { type ChoiceOptions, chooseNode, type Eligibility, maxSecondaries } from './choose-node.ts'
import type { SecondaryUpkeep } from './secondary-upkeep.ts'

/** Answer to a caller: a node, or a node to open as a secondary node first. */
type Answer = { node: string } | { open: LiveNode }

/** State of one call. */
interface NodeRequest {
  idcCode: string
  /** Names of nodes that failed to become a secondary node in this call. */
  failed: string[]
}

/** Share of a node's deadline for opening a secondary node. The caller can use another node instead. */
const openingPart = 1 / 4
/**
 * Maximum number of attempts of a caller. A further attempt follows if another caller's secondary node was opened
 * meanwhile, or this caller's secondary node failed.
 */
const looksAtMost = 3

/**
 * Chooses the node of a room for a caller (contract, section 3: get_mcu). This is usually the primary node. If the
 * nodes can relay streams to each other, a room may have secondary nodes. A secondary node is opened if the room's
 * nodes are full. It is also opened if people are in the room and a caller requests the location of another node.
 */
export class CallerNodes {
  readonly #context: PoolContext
  readonly #eligibility: Eligibility
  readonly #assigner: Assigner
  readonly #upkeep: SecondaryUpkeep
  /** Pending openings of secondary nodes, at most one per room. */
  readonly #opening = new Map<string, Promise<string | undefined>>()

  constructor(context: PoolContext, parts: { eligibility: Eligibility; assigner: Assigner; upkeep: SecondaryUpkeep }) {
    this.#context = context
    this.#eligibility = parts.eligibility
    this.#assigner = parts.assigner
    this.#upkeep = parts.upkeep
  }

  /**
   * Returns the name of the room's node for this caller: the primary node or a secondary node. Resolves when the node
   * holds the room and the assignment is on disk.
   * @throws the errors of Assigner.assign
   */
  nodeFor(roomId: string, options: ChoiceOptions = {}, signal?: AbortSignal): Promise<string> {
    return this.#context.lifetime.orEnded(this.#choose(roomId, options, signal))
  }

  async #choose(roomId: string, options: ChoiceOptions, signal: AbortSignal | undefined): Promise<string> {
    const own = await this.#assigner.assign(roomId, options, signal)
    const request: NodeRequest = { idcCode: options.idcCode ?? '', failed: [] }
    for (let looks = 0; looks < looksAtMost; looks += 1) {
      const answer = this.#answer(roomId, own, request)
      if ('node' in answer) {
        if (answer.node !== own) this.#upkeep.used(roomId, answer.node)
        return answer.node
      }
      const underWay = this.#opening.get(roomId)
      if (underWay === undefined) {
        const opened = await unlessAborted(this.#begin(roomId, answer.open), signal)
        if (opened !== undefined) return opened
        request.failed.push(answer.open.name)
      } else await unlessAborted(underWay, signal)
    }
    return own
  }

  /** Returns the answer to a caller. O(1) if the room's primary node is suitable. */
  #answer(roomId: string, own: string, request: NodeRequest): Answer {
    const { idcCode } = request
    const { live, store } = this.#context
    const node = live.get(own)
    if (node === undefined) return { node: own }
    const asks = idcCode !== '' && node.idcCode !== idcCode
    if (!asks && !isFull(node)) return { node: own }
    const room = store.get('rooms', roomId)
    if (room === undefined || !this.#eligibility.mayShare(node, room)) return { node: own }
    const secondaries = this.#open(room)
    if (asks) {
      const near = minLoaded(secondaries.filter((secondary) => secondary.idcCode === idcCode))
      if (near !== undefined) return { node: near.name }
      const other = this.#another(room, request)
      if (other !== undefined) return { open: other }
      if (!isFull(node)) return { node: own }
    }
    const roomy = minLoaded(secondaries)
    if (roomy !== undefined) return { node: roomy.name }
    const other = this.#another(room, { ...request, idcCode: '' })
    return other === undefined ? { node: own } : { open: other }
  }

  /** Returns the secondary nodes of the room to which callers may be sent. */
  #open(room: StoredRoom): LiveNode[] {
    return (room.branches ?? []).flatMap((name) => {
      const node = this.#context.live.get(name)
      return node?.takesRooms && node.placement.isOpen(room.room_id) && !isFull(node) ? [node] : []
    })
  }

  /**
   * Returns a node with the given idc_code (empty: any) that may become a secondary node of the room. Visits all nodes.
   */
  #another(room: StoredRoom, { idcCode, failed }: NodeRequest): LiveNode | undefined {
    const { presence, expected } = this.#context
    const nodes = nodesOfRoom(room)
    if (nodes.length > maxSecondaries) return undefined
    // An empty room needs no secondary node for its location.
    if (idcCode !== '' && presence.peopleIn(room.room_id) === 0) return undefined
    expected.expire()
    const candidates: LiveNode[] = []
    for (const node of this.#eligibility.candidates(room)) {
      if (nodes.includes(node.name) || !node.reliable || !this.#eligibility.mayShare(node, room)) continue
      if (idcCode === '' || node.idcCode === idcCode) candidates.push(node)
    }
    const choice = chooseNode(candidates, { exclude: new Set(failed) })
    return choice.ok ? choice.node : undefined
  }

  #begin(roomId: string, node: LiveNode): Promise<string | undefined> {
    const opening = this.#openOn(roomId, node).finally(() => this.#opening.delete(roomId))
    this.#opening.set(roomId, opening)
    return opening
  }

  /**
   * Opens a secondary node. Resolves to undefined on failure; never rejects, because callers can use the primary node.
   */
  async #openOn(roomId: string, node: LiveNode): Promise<string | undefined> {
    const { index, expected, deadlines, logger } = this.#context
    const { name } = node
    let stored = false
    index.reserve(roomId, name)
    expected.expectAt(roomId, name, 1)
    try {
      const deadline = Deadline.in(deadlines().node_ms * openingPart)
      stored = (await node.placement.open(roomId, deadline)) !== undefined && (await this.#store(roomId, node))
    } catch (error) {
      if (error instanceof DeadlineError) node.unanswered()
      const isForeseen = error instanceof NodeError || error instanceof DeadlineError || error instanceof ApiError
      const reason = isForeseen ? { error: describe(error) } : { err: error }
      logger.warn({ node: name, room: roomId, ...reason }, 'a node did not become a secondary node of a room')
    } finally {
      if (!stored) expected.forgetAt(roomId, name)
      index.release(roomId, name)
      // Closes the room on a node that did not become a secondary node.
      node.placement.follow(roomId)
    }
    return stored ? name : undefined
  }

  /**
   * Stores the secondary node. Resolves to false if the room or its nodes changed meanwhile so that the node is no
   * longer suitable.
   */
  #store(roomId: string, node: LiveNode): Promise<boolean> {
    const { store, live } = this.#context
    return store.transact([`rooms/${roomId}`], (transaction) => {
      const room = store.get('rooms', roomId)
      const own = room === undefined ? undefined : live.get(room.node)
      if (room === undefined || isShut(room) || own === undefined) return false
      const mayShare = this.#eligibility.mayShare(own, room) && this.#eligibility.mayShare(node, room)
      if (!mayShare || live.get(node.name) !== node || !node.takesRooms) return false
      const nodes = nodesOfRoom(room)
      if (nodes.includes(node.name)) return true
      transaction.put('rooms', roomId, onNodes(room, room.node, [...(room.branches ?? []), node.name]))
      return true
    })
  }
}

function isFull({ maxUsers, users }: LiveNode): boolean {
  return maxUsers > 0 && users >= maxUsers
}

function minLoaded(nodes: readonly LiveNode[]): LiveNode | undefined {
  const choice = chooseNode(nodes)
  return choice.ok ? choice.node : undefined
}

function describe(error: NodeError | DeadlineError | ApiError): string {
  return error instanceof ApiError ? error.message : describeFailure(error)
}
