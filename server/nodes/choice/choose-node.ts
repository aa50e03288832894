/** A node as far as the choice cares. Limits: 0 is none. */
export interface Candidate {
  name: string
  idcCode: string
  weight: number
  maxRooms: number
  maxUsers: number
  /** Rooms it serves or is about to. */
  rooms: number
  /** People and devices on it. */
  users: number
}

/** What the caller asks of the choice. */
export interface ChoiceOptions {
  /** A node with this idc_code is preferred when one qualifies. */
  idcCode?: string | undefined
  /** Names that are out of the question. */
  exclude?: ReadonlySet<string> | undefined
  /** The room is for simulated people: a simulated node is wanted, and served by a real one where there is none. */
  lab?: boolean | undefined
}

/** The chosen node, or why there is none: no node that may take rooms at all, or every such node is at its limit. */
export type Choice<C extends Candidate> = { ok: true; node: C } | { ok: false; reason: 'noNode' | 'licenceExceeded' }

/**
 * Chooses the node for a room (contract, section 3): below its limits; of the preferred idc_code when one qualifies; then the least loaded by users, then by rooms,
 * each divided by its weight, then by name. `candidates` are enabled, online and not draining.
 */
export function chooseNode<C extends Candidate>(candidates: Iterable<C>, options: ChoiceOptions = {}): Choice<C> {
  const idcCode = options.idcCode ?? ''
  let best: C | undefined
  let any = false
  for (const candidate of candidates) {
    if (options.exclude?.has(candidate.name)) continue
    any = true
    if (isAtLimit(candidate)) continue
    if (best === undefined || isBetter(candidate, best, idcCode)) best = candidate
  }
  if (best !== undefined) return { ok: true, node: best }
  return { ok: false, reason: any ? 'licenceExceeded' : 'noNode' }
}

function isAtLimit(node: Candidate): boolean {
  return (node.maxRooms > 0 && node.rooms >= node.maxRooms) || (node.maxUsers > 0 && node.users >= node.maxUsers)
}

function isBetter(one: Candidate, other: Candidate, idcCode: string): boolean {
  if (idcCode !== '') {
    const preferred = one.idcCode === idcCode
    if (preferred !== (other.idcCode === idcCode)) return preferred
  }
  const users = one.users / one.weight - other.users / other.weight
  if (users !== 0) return users < 0
  const rooms = one.rooms / one.weight - other.rooms / other.weight
  if (rooms !== 0) return rooms < 0
  return one.name < other.name
}
