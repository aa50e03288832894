import type { NodeKind } from '../../../../shared/node.ts'
import type { Candidate } from '../state/live-node.ts'

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
