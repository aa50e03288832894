import type { NodeKind } from '../../../../shared/node.ts'
import type { StoredRoom } from '../../../store/records.ts'
import { carriesMedia } from '../../port/node-driver.ts'
import type { Candidate, LiveNode } from '../state/live-node.ts'
import type { PoolContext } from '../state/pool-context.ts'

/** Preferences of the caller. */
export interface ChoiceOptions {
  /** Preferred idc_code of the node. */
  idcCode?: string | undefined
  /** Names of nodes that must not be chosen. */
  exclude?: ReadonlySet<string> | undefined
  /**
   * Kind of nodes that are chosen last. A room without people leaves a node of this kind if there is an alternative.
   */
  avoid?: NodeKind | undefined
  /**
   * Whether the room needs no media. If so, nodes without media are preferred, and a media node is used if there are
   * none.
   */
  withoutMedia?: boolean | undefined
}

/**
 * The chosen node, or the reason why there is none. noNode: no node accepts rooms; licenceExceeded: all nodes are at
 * their limits.
 */
export type Choice<C extends Candidate> = { ok: true; node: C } | { ok: false; reason: 'noNode' | 'licenceExceeded' }

/**
 * Chooses the node for a room (contract, section 3) among nodes below their limits. Reliable nodes are preferred, then
 * nodes with the requested idc_code. Then the load by users decides, then the load by rooms, each divided by the node's
 * weight, then the name. Expected users count as users, but only real users count against the limits. A node that
 * expected users will fill comes after the others. `candidates` must be enabled, online and not draining. O(n) in
 * candidates.
 */
export function chooseNode<C extends Candidate>(candidates: Iterable<C>, options: ChoiceOptions = {}): Choice<C> {
  const idcCode = options.idcCode ?? ''
  let best: C | undefined
  let bestRank = 0
  let bestLoad = 0
  let any = false
  for (const candidate of candidates) {
    if (options.exclude?.has(candidate.name)) continue
    any = true
    const { maxRooms, maxUsers, users } = candidate
    if ((maxRooms > 0 && candidate.rooms >= maxRooms) || (maxUsers > 0 && users >= maxUsers)) continue
    const coming = users + candidate.expected
    const rank = rankOf(candidate, coming, idcCode)
    const load = coming / candidate.weight
    if (best !== undefined) {
      const order = bestRank - rank || load - bestLoad || byRooms(candidate, best)
      if (order > 0) continue
    }
    best = candidate
    bestRank = rank
    bestLoad = load
  }
  if (best !== undefined) return { ok: true, node: best }
  return { ok: false, reason: any ? 'licenceExceeded' : 'noNode' }
}

/** Returns the rank, which takes precedence over load. Higher is better. */
function rankOf(node: Candidate, coming: number, idcCode: string): number {
  const near = idcCode !== '' && node.idcCode === idcCode
  const roomy = node.maxUsers === 0 || coming < node.maxUsers
  return (node.reliable ? 4 : 0) + (near ? 2 : 0) + (roomy ? 1 : 0)
}

/** Returns a negative number if `one` comes first. */
function byRooms(one: Candidate, other: Candidate): number {
  return one.rooms / one.weight - other.rooms / other.weight || (one.name < other.name ? -1 : 1)
}

/** Fields of a room that determine which kinds of nodes may hold it. */
type RoomKind = Pick<StoredRoom, 'room_mode'>

/** Lowest mode of peer-to-peer rooms, which only nodes with this product's signalling support. */
const firstPeerMode = 3

/** Determines which nodes may hold a room at all. `chooseNode` selects among them. */
export class Eligibility {
  readonly #context: Pick<PoolContext, 'store' | 'live'>
  /** Whether an enabled node carries media; undefined until computed. */
  #hasMedia: boolean | undefined

  constructor(context: Pick<PoolContext, 'store' | 'live'>) {
    this.#context = context
  }

  /** Handles the addition, change or removal of nodes. */
  nodesChanged(): void {
    this.#hasMedia = undefined
  }

  /**
   * Returns whether the node may hold the room. If the site has nodes that carry media, even offline ones, a room that
   * needs media is placed only on these nodes. O(1).
   * @param withoutMedia whether the room needs no media
   */
  mayHave({ config }: LiveNode, room: RoomKind, withoutMedia = false): boolean {
    if (!carriesMedia(config)) return withoutMedia || !this.#mediaNodes()
    return config.kind !== 'janus' || room.room_mode < firstPeerMode
  }

  /**
   * Returns whether the node may be one of several nodes of the room: nodes of this kind can relay streams to each
   * other.
   */
  mayShare({ config }: LiveNode, room: RoomKind): boolean {
    return config.kind === 'janus' && room.room_mode < firstPeerMode
  }

  /**
   * Returns the nodes that accept rooms now and may hold this room. If a room needs no media, only nodes without media
   * are returned, unless there are none.
   */
  *candidates(room: RoomKind, withoutMedia = false): Generator<LiveNode> {
    const onlyWithoutMedia = withoutMedia && this.#hasNodeWithoutMedia()
    for (const node of this.#context.live.values()) {
      if (!node.takesRooms) continue
      if (onlyWithoutMedia ? !carriesMedia(node.config) : this.mayHave(node, room)) yield node
    }
  }

  #hasNodeWithoutMedia(): boolean {
    for (const node of this.#context.live.values()) if (node.takesRooms && !carriesMedia(node.config)) return true
    return false
  }

  #mediaNodes(): boolean {
    this.#hasMedia ??= [...this.#context.store.all('nodes').values()].some((node) => node.enabled && carriesMedia(node))
    return this.#hasMedia
  }
}

/** Maximum number of secondary nodes of a room. Each secondary node may add a hop to the streams watched on it. */
export const maxSecondaries = 8

/** Returns whether the node is removed, disabled or offline. A node that was not polled yet counts as available. */
export function isGone({ store, live }: Pick<PoolContext, 'store' | 'live'>, name: string): boolean {
  if (store.get('nodes', name)?.enabled !== true) return true
  const node = live.get(name)
  return node !== undefined && (node.leaving || node.health.state === 'offline')
}

/**
 * Returns the secondary node that replaces a failed primary node: the node with the most people, or the oldest of
 * several such nodes. Returns undefined if no secondary node of the room works.
 * @param excluded names of nodes that must not be chosen
 */
export function successorOf(
  { live, presence }: Pick<PoolContext, 'live' | 'presence'>,
  eligibility: Eligibility,
  room: StoredRoom,
  excluded?: ReadonlySet<string>,
): LiveNode | undefined {
  let best: LiveNode | undefined
  let most = -1
  for (const name of room.branches ?? []) {
    const node = live.get(name)
    if (!node?.takesRooms || !eligibility.mayShare(node, room) || excluded?.has(name) === true) continue
    const people = presence.peopleAt(room.room_id, name)
    if (people <= most) continue
    best = node
    most = people
  }
  return best
}

/**
 * Returns the room's secondary nodes after `own` has become its primary node. These are the available secondary nodes,
 * and the previous primary node while people are on it.
 */
export function secondariesBeside(
  context: Pick<PoolContext, 'store' | 'live' | 'presence'>,
  eligibility: Eligibility,
  room: StoredRoom,
  own: LiveNode,
): string[] {
  if (!eligibility.mayShare(own, room)) return []
  const { live, presence } = context
  const before = live.get(room.node)
  const stays = before?.serving && eligibility.mayShare(before, room) && presence.peopleAt(room.room_id, room.node) > 0
  const names = stays ? [room.node, ...(room.branches ?? [])] : (room.branches ?? [])
  return names.filter((name) => name !== own.name && !isGone(context, name))
}
