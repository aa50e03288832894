import type { StoredRoom } from '../../../store/records.ts'

/** Fields of a room record that name its nodes. */
export type RoomNodes = Pick<StoredRoom, 'node' | 'branches'>

const none: readonly string[] = []

/** Returns the names of the nodes in the room's record, the primary node first; empty for a room without a node. */
export function nodesOfRoom({ node, branches = none }: RoomNodes): readonly string[] {
  return node === '' ? none : [node, ...branches.filter((name) => name !== node)]
}

/** Returns whether the node is a secondary node of the room. */
export function isSecondary({ node, branches = none }: RoomNodes, name: string): boolean {
  return node !== name && branches.includes(name)
}

/**
 * Returns the room's record with other nodes.
 * @param node empty: no node, and no secondary nodes
 */
export function onNodes(room: StoredRoom, node: string, branches: readonly string[] = none): StoredRoom {
  const { branches: _, ...rest } = room
  const kept = branches.filter((name) => name !== node)
  return node === '' || kept.length === 0 ? { ...rest, node } : { ...rest, node, branches: kept }
}

/** Returns whether both lists name the same nodes in the same order. */
export function sameNodes(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, at) => name === other[at])
}
