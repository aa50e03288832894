import { expect } from 'vitest'
import type { StoredNode, StoredRoom } from '../../../server/store/records.ts'
import { SharingNode } from '../nodes/sharing-node.ts'
import { type PoolSite, type PoolSiteOptions, poolSite } from './pool-site.ts'

/** A pool whose nodes may share rooms. */
export interface SecondarySite extends Omit<PoolSite, 'node'> {
  node(name: string): SharingNode
  /** Resolves the room's node for a user and joins there. @returns the node */
  enter(roomId: string, userId: string, idcCode?: string): Promise<string>
  /** Reads the record of the room. */
  room(roomId: string): StoredRoom
  /** Lists the users that a node has in the room. */
  on(name: string, roomId: string): Promise<string[]>
}

/** Opens a site with nodes whose rooms may be on several; their idc_code is their name in capitals. */
export async function secondarySite(
  nodes: Record<string, Partial<StoredNode>>,
  options: Omit<PoolSiteOptions, 'nodes' | 'driver'> = {},
): Promise<SecondarySite> {
  const made = new Map<string, SharingNode>()
  const site = await poolSite({
    rooms: { r1: {} },
    ...options,
    nodes: Object.fromEntries(
      Object.entries(nodes).map(([name, fields]) => [name, { kind: 'janus', idc_code: name.toUpperCase(), ...fields }]),
    ),
    driver({ name }) {
      const node = new SharingNode()
      made.set(name, node)
      return node
    },
  })
  const node = (name: string): SharingNode => {
    const found = made.get(name)
    if (found === undefined) throw new Error(`no node ${name}`)
    return found
  }
  return {
    ...site,
    node,
    async enter(roomId, userId, idcCode) {
      const name = await site.pool.callerNodes.nodeFor(roomId, { idcCode })
      node(name).joinPerson(roomId, { userId, userName: userId })
      return name
    },
    room(roomId) {
      const room = site.store.get('rooms', roomId)
      if (room === undefined) throw new Error(`no room ${roomId}`)
      return room
    },
    async on(name, roomId) {
      const users = await node(name).users(roomId, AbortSignal.timeout(5_000))
      return users.map(({ userId }) => userId)
    },
  }
}

/** Expects the room on these nodes in its record, its own node first. */
export function expectNodes(site: SecondarySite, roomId: string, nodes: readonly string[]): void {
  const { node, branches = [] } = site.room(roomId)
  expect([node, ...branches]).toEqual(nodes)
  expect(site.pool.index.nodesOf(roomId)).toEqual(nodes)
}
