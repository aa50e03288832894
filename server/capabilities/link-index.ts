import { limits } from '../../shared/limits.ts'
import type { StoredCapabilityKind, StoredCapability } from '../store/capability-record.ts'

/** Kinds of which callers create many, and whose number is limited here. */
const linkKinds: ReadonlySet<StoredCapabilityKind> = new Set<StoredCapabilityKind>([
  'live-link',
  'recorded-link',
  'join',
])

/** Links that count towards a limit. */
interface LinkGroup {
  name: string
  limit: number
  /** Whether only valid links count, and not ended ones that are still stored. */
  inForce: boolean
}

/** Stored links by the limits towards which they count, the oldest first. */
export class LinkIndex {
  readonly #ids = new Map<string, Set<string>>()

  /** Returns the links of each group that is full for this one. */
  full(record: StoredCapability): ReadonlySet<string>[] {
    return groupsOf(record).flatMap(({ name, limit }) => {
      const ids = this.#ids.get(name)
      return ids !== undefined && ids.size >= limit ? [ids] : []
    })
  }

  /** Returns the ids of a room's valid links of a kind. */
  ofRoom(kind: StoredCapabilityKind, roomId: string): readonly string[] {
    return [...(this.#ids.get(nameOfRoom(kind, roomId)) ?? [])]
  }

  /** Adds a link, or records that it has ended. */
  add(id: string, record: StoredCapability): void {
    const hasEnded = record.kind === 'join' && record.ended_at !== undefined
    for (const { name, inForce } of groupsOf(record)) {
      if (inForce && hasEnded) this.#delete(name, id)
      else this.#ids.set(name, (this.#ids.get(name) ?? new Set()).add(id))
    }
  }

  remove(id: string, record: StoredCapability): void {
    for (const { name } of groupsOf(record)) this.#delete(name, id)
  }

  #delete(name: string, id: string): void {
    const ids = this.#ids.get(name)
    if (ids?.delete(id) === true && ids.size === 0) this.#ids.delete(name)
  }
}

/**
 * Returns the group name of a room. It is cheap to compute, because every new room is looked up. Names of other groups
 * are a kind alone, or JSON.
 */
function nameOfRoom(kind: StoredCapabilityKind, roomId: string): string {
  return `${kind} ${roomId}`
}

function groupsOf({ kind, room_id, maker }: StoredCapability): LinkGroup[] {
  if (!linkKinds.has(kind)) return []
  const [ofRoom, ofSite] =
    kind === 'join' ? [limits.joinLinksPerRoom, limits.joinLinks] : [limits.linksPerRoom, limits.links]
  const groups: LinkGroup[] = [
    { name: nameOfRoom(kind, room_id), limit: ofRoom, inForce: true },
    { name: kind, limit: ofSite, inForce: true },
    { name: JSON.stringify(['stored', kind]), limit: limits.joinRecords, inForce: false },
  ]
  if (maker.type === 'account') {
    const { account } = maker
    groups.push(
      { name: JSON.stringify([kind, room_id, account]), limit: ofRoom / 2, inForce: true },
      { name: JSON.stringify(['account', kind, account]), limit: limits.accountLinks, inForce: false },
    )
  }
  // With a leaked secret, an attacker must not use up the links of all others.
  if (maker.type === 'credential')
    groups.push({ name: JSON.stringify(['credential', kind, maker.access_key]), limit: ofSite / 2, inForce: true })
  return groups
}
