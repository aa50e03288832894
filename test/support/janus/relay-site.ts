import { onTestFinished } from 'vitest'
import { Relays } from '../../../server/nodes/janus/relay/relays.ts'
import type { JanusServer } from './janus-server.ts'
import { RoomPeer } from './room-peers.ts'
import { openTestRoom, TestRelayNode } from './test-relay-node.ts'

const logger = { debug: () => {}, info: () => {}, warn: console.warn, error: console.error }

/** Relays between the Janus processes of a test file; everything goes with the test. */
export class RelaySite {
  readonly nodes: readonly TestRelayNode[]
  readonly relays: Relays
  readonly room: string

  private constructor(nodes: readonly TestRelayNode[], relays: Relays, room: string) {
    this.nodes = nodes
    this.relays = relays
    this.room = room
  }

  /** A room that is on all of these, and relays between them. */
  static async open(
    servers: readonly JanusServer[],
    room: string,
    { isThere = false, ...options }: { graceMs?: number; fanOut?: number; isThere?: boolean } = {},
  ): Promise<RelaySite> {
    const nodes = servers.map((janus, index) => new TestRelayNode('abcdef'[index] ?? '', janus))
    const site = new RelaySite(nodes, new Relays({ logger, graceMs: 200, ...options }), room)
    if (!isThere) await Promise.all(servers.map((janus) => openTestRoom(janus, room)))
    site.relays.place(room, nodes)
    onTestFinished(() => site.close())
    return site
  }

  /** Somebody joins by Janus's own API, until the test ends. */
  async join(janus: JanusServer, id: string): Promise<RoomPeer> {
    const peer = await RoomPeer.join(janus, this.room, id)
    onTestFinished(() => peer.leave())
    return peer
  }

  /** Who is in the room there, as Janus says, but those that belong to no stream. */
  async participants(janus: JanusServer): Promise<string[]> {
    const { participants } = await janus.ask('videoroom', { request: 'listparticipants', room: this.room })
    const ids = (participants as { id: string }[]).map(({ id }) => id)
    return ids.filter((id) => id !== 'relay-test~').sort()
  }

  /** The controller is no more, and Janus is still to notice. */
  async abandon(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.abandon()))
  }

  async close(): Promise<void> {
    await this.relays.close()
    await Promise.all(this.nodes.map((node) => node.close()))
  }
}

/** Handles on a Janus by what they were named. */
export async function relayHandles(janus: JanusServer): Promise<number> {
  let count = 0
  for (const session of (await admin(janus, '', 'list_sessions')).sessions as number[]) {
    const { handles = [] } = await admin(janus, `/${session}`, 'list_handles')
    for (const handle of handles as number[]) {
      const { info } = await admin(janus, `/${session}/${handle}`, 'handle_info')
      if ((info as { opaque_id?: string } | undefined)?.opaque_id === 'roomdesk-relay') count += 1
    }
  }
  return count
}

async function admin(janus: JanusServer, path: string, request: string): Promise<Record<string, unknown>> {
  const { admin: secret } = janus.configuration.secrets
  const body = JSON.stringify({ janus: request, transaction: 'test', admin_secret: secret })
  return (await (await fetch(janus.adminUrl + path, { method: 'POST', body })).json()) as Record<string, unknown>
}
