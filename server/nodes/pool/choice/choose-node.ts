import type { NodeKind } from '../../../../shared/node.ts'
import type { Candidate } from '../state/live-node.ts'

/** Wishes of the caller for the choice. */
export interface ChoiceOptions {
  /** A node with this idc_code is preferred when one qualifies. */
  idcCode?: string | undefined
  /** Names that are out of the question. */
  exclude?: ReadonlySet<string> | undefined
  /** Nodes of this kind come last, and one that has the room gives it up for another while no people are in it. */
  avoid?: NodeKind | undefined
  /** The room is for simulated people: a simulated node is wanted, and served by a real one where there is none. */
  lab?: boolean | undefined
}

/** The chosen node, or why there is none: no node that may take rooms at all, or every such node is at its limit. */
export type Choice<C extends Candidate> = { ok: true; node: C } | { ok: false; reason: 'noNode' | 'licenceExceeded' }

/**
 * Chooses the node for a room (contract, section 3): below its limits; one that is reliable, when there is any; of the preferred idc_code when one qualifies; then the least
 * loaded by users, then by rooms, each divided by its weight, then by name. Users who are about to come count like those who are there, except that they refuse nobody: a
 * node that they will fill comes after the others. `candidates` are enabled, online and not draining. One step for each candidate.
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

/** Rank that decides before load; higher is better. */
function rankOf(node: Candidate, coming: number, idcCode: string): number {
  const near = idcCode !== '' && node.idcCode === idcCode
  const roomy = node.maxUsers === 0 || coming < node.maxUsers
  return (node.reliable ? 4 : 0) + (near ? 2 : 0) + (roomy ? 1 : 0)
}

/** Negative when `one` comes first. */
function byRooms(one: Candidate, other: Candidate): number {
  return one.rooms / one.weight - other.rooms / other.weight || (one.name < other.name ? -1 : 1)
}
