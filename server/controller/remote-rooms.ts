import type { Logger } from 'pino'
import type { Settings } from '../../shared/settings.ts'
import { assistAddressOf } from '../devices/device-options.ts'
import type { EmbeddedNodes } from '../nodes/embedded/embedded-nodes.ts'
import { GatewayRooms } from '../nodes/gateway/gateway-rooms.ts'
import { RelayedRooms } from '../nodes/janus/relay/relayed-rooms.ts'
import type { JanusNodes } from '../nodes/janus/janus-nodes.ts'
import { NodeConnectionError } from '../nodes/port/media-node-port.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import type { Store } from '../store/store.ts'

/** Timeout of one message to the program of the room page, in milliseconds. */
const gatewayAnswerMs = 4_000

export interface RemoteRoomsDependencies {
  store: Store
  settings: () => Settings
  pool: NodePool
  janus: JanusNodes
  /** Nodes whose programs serve the room page. */
  media: EmbeddedNodes | undefined
  logger: Logger
}

/**
 * Composes the rooms on Janus nodes: their media, on one node or several, and the programs that serve the room page.
 */
export function remoteRooms(dependencies: RemoteRoomsDependencies): {
  relayedRooms: RelayedRooms
  gateway: GatewayRooms
} {
  const { store, settings, pool, janus, media, logger } = dependencies
  const relayedRooms = new RelayedRooms({
    nodes: janus,
    nodesOf: (roomId) => pool.index.nodesOf(roomId),
    usersOf: (roomId) =>
      pool.presence
        .usersOf(roomId)
        .map((user) => ({ ...user, node: pool.presence.sessionOf(roomId, user.userId)?.node ?? '' })),
    spread: () => pool.index.roomsOnSeveralNodes(),
    choose: (roomId, signal) => pool.callerNodes.nodeFor(roomId, {}, signal),
    unsure: (node) => pool.nodes.recheck(node),
    tell: (event) => gateway.onMediaEvent(event),
    logger,
  })
  const gateway: GatewayRooms = new GatewayRooms({
    store,
    media: relayedRooms.media,
    isRemote: (node) => janus.people(node) !== undefined,
    usersOf: (roomId) => pool.presence.usersOf(roomId),
    request: async (node, method, params) => {
      const signal = AbortSignal.timeout(gatewayAnswerMs)
      if (media === undefined) throw new NodeConnectionError('it does not run')
      return await (await media.client(node, signal)).request(method, params, signal)
    },
    hasSmall: (roomId, userId) => {
      const device = store.get('devices', userId)
      return device?.roomId === roomId && /^rtsp:/i.test(assistAddressOf(device))
    },
    kick: (roomId, userId) => pool.calls.kick(roomId, userId),
    dismiss: (roomId, userId, signal) =>
      Promise.all(pool.index.nodesOf(roomId).map((node) => janus.dismiss(node, roomId, userId, signal))),
    isProven: (roomId, userId) => janus.isProven(pool.presence.sessionOf(roomId, userId)?.node ?? '', roomId, userId),
    wasKicked: (roomId, userId) => janus.wasKicked(roomId, userId),
    resumeMs: () => settings().media.resume_ms,
    logger,
  })
  return { relayedRooms, gateway }
}
