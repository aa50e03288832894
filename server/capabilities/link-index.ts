import type { CapabilityKind, StoredCapability } from '../store/capability-record.ts'

/** Kinds of which anybody makes many, and which are limited here. */
const linkKinds: ReadonlySet<CapabilityKind> = new Set<CapabilityKind>(['live-link', 'recorded-link', 'join'])

/** Stored links of each kind, of the site and of each room, the oldest first. */
export class LinkIndex {
  readonly #ids = new Map<string, Set<string>>()

  /** Links of a kind: of one room, or of all; undefined: the kind is not limited. */
  of(kind: CapabilityKind, roomId?: string): ReadonlySet<string> | undefined {
    return linkKinds.has(kind) ? (this.#ids.get(nameOf(kind, roomId)) ?? new Set()) : undefined
  }

  add(id: string, { kind, room_id }: StoredCapability): void {
    if (!linkKinds.has(kind)) return
    for (const name of [nameOf(kind), nameOf(kind, room_id)]) {
      const ids = this.#ids.get(name) ?? new Set()
      this.#ids.set(name, ids.add(id))
    }
  }

  remove(id: string, { kind, room_id }: StoredCapability): void {
    for (const name of [nameOf(kind), nameOf(kind, room_id)]) {
      const ids = this.#ids.get(name)
      if (ids?.delete(id) === true && ids.size === 0) this.#ids.delete(name)
    }
  }
}

function nameOf(kind: CapabilityKind, roomId?: string): string {
  return roomId === undefined ? kind : `${kind} ${roomId}`
}
