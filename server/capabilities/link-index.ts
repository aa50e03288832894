import { limits } from '../../shared/limits.ts'
import type { StoredCapabilityKind, StoredCapability } from '../store/capability-record.ts'

/** Kinds of capabilities whose number is limited here, because callers create many. */
const linkKinds: ReadonlySet<StoredCapabilityKind> = new Set<StoredCapabilityKind>([
  'live-link',
  'recorded-link',
  'join',
])

/** Links that count towards a limit. */
interface LinkGroup {
  name: string
  limit: number
  /** Whether only valid links count; false: ended links that are still stored count, too. */
  inForce: boolean
}

/** Stored links by the limits towards which they count, the oldest first. */
export class LinkIndex {
  readonly #ids = new Map<string, Set<string>>()

  /** Returns the links of each full group to which a new link would belong. */
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
 * Returns the name of the group of a room's links of one kind. Each new room looks up this name, so it is cheap to
 * compute. The names of other groups are a kind alone, or JSON.
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
  // An attacker with a leaked secret must not use up the links of all other makers.
  if (maker.type === 'credential')
    groups.push({ name: JSON.stringify(['credential', kind, maker.access_key]), limit: ofSite / 2, inForce: true })
  return groups
}
