import type { StoredRoom } from '../../../store/records.ts'

/** Fields of a room record that name its nodes. */
export type RoomNodes = Pick<StoredRoom, 'node' | 'branches'>

const none: readonly string[] = []

/** Names of the nodes that hold the room by its record: its own first, then its secondary nodes; empty for a room without a node. */
export function nodesOf({ node, branches = none }: RoomNodes): readonly string[] {
  return node === '' ? none : [node, ...branches.filter((name) => name !== node)]
}

/** The node is a secondary node of the room. */
export function isSecondary({ node, branches = none }: RoomNodes, name: string): boolean {
  return node !== name && branches.includes(name)
}

/** The same room on other nodes. @param node empty: on none, then without secondary nodes */
export function onNodes(room: StoredRoom, node: string, branches: readonly string[] = none): StoredRoom {
  const { branches: _, ...rest } = room
  const kept = branches.filter((name) => name !== node)
  return node === '' || kept.length === 0 ? { ...rest, node } : { ...rest, node, branches: kept }
}

/** The lists name the same nodes in the same order. */
export function sameNodes(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, at) => name === other[at])
}
