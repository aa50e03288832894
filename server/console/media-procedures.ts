import type { ProcedureOutput } from '../../shared/console/contract.ts'
import type { PreviewView } from '../../shared/console/media.ts'
import { subject } from '../../shared/console/procedure-events.ts'
import type { EventParams } from '../../shared/domain/event-values.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { atLeast } from '../../shared/domain/roles.ts'
import type { ControlResult } from '../../shared/media/control.ts'
import { refusalOfDevice } from '../../shared/refusals/device-refusals.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { Settings } from '../../shared/settings.ts'
import { tokenKinds } from '../../shared/tokens.ts'
import type { Capabilities } from '../capabilities/capabilities.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import { listenerUrl } from '../edge/network-addresses.ts'
import type { MediaRequests } from '../nodes/embedded/control-client.ts'
import type { EmbeddedNodes } from '../nodes/embedded/embedded-nodes.ts'
import type { GatewayRooms } from '../nodes/gateway/gateway-rooms.ts'
import type { JanusNodes } from '../nodes/janus/janus-nodes.ts'
import { JanusError } from '../nodes/janus/wire/janus-error.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import { NodeConnectionError, NodeError } from '../nodes/port/media-node-port.ts'
import type { JoinLinks } from '../rooms/join-links.ts'
import type { Removals } from '../rooms/removals.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import { shutError } from '../rooms/scheduled-rooms.ts'
import { isShut } from '../schedule/room-hours.ts'
import { type PlannedChange, recordsPut } from '../store/change-cause.ts'
import type { Store } from '../store/store.ts'
import { guardRevocation } from './caller-permissions.ts'
import { requireDeviceView } from './camera-procedures.ts'
import { type Handler, makerOf, type ProcedureHandlers, type ProceduresOf } from './handlers.ts'
import { endSession, passAnswer, passOffer, type PreviewedMedia, RemotePreviews } from './previews.ts'

export interface MediaDependencies {
  /** Embedded nodes; undefined: none. */
  media: EmbeddedNodes | undefined
  store: Pick<Store, 'get'>
  /** Rooms whose page and streams are on an embedded node while their media is on another node. */
  gateway: Pick<GatewayRooms, 'isRemote' | 'streamsOf'>
  /** Media of the rooms in `gateway`. */
  remoteMedia: PreviewedMedia
  joinLinks: JoinLinks
  removals: Pick<Removals, 'revokeLinks'>
  capabilities: Pick<Capabilities, 'list' | 'revoke'>
  letIn: Handler<'media.participant_token'>
  outgoing: Pick<OutgoingUsers, 'view'>
  settings: () => Settings
}

type Stats = ControlResult<'stats'>

const nothing: Stats = { streams: [], connections: [] }

/** Procedures on the media of embedded nodes. */
export function mediaHandlers({
  media,
  store,
  gateway,
  remoteMedia,
  joinLinks,
  removals,
  capabilities,
  letIn,
  outgoing,
  settings,
}: MediaDependencies): ProcedureHandlers<ProceduresOf<'media'>> {
  const previews = new RemotePreviews(remoteMedia)
  const ownNodeOf = (roomId: string): string => store.get('rooms', roomId)?.node ?? ''
  const isRemote = (roomId: string): boolean => gateway.isRemote(ownNodeOf(roomId))
  /** Returns the node that serves a room's page and streams. */
  const nodeOf = (roomId: string): string => {
    return isRemote(roomId) ? (media?.names[0] ?? '') : ownNodeOf(roomId)
  }
  /**
   * Sends a request to an embedded node; undefined if no embedded node has this name.
   * @throws RefusalError failed if the node does not respond
   */
  const fromNode = async <T>(
    node: string,
    ask: (client: MediaRequests, signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> => {
    if (!media?.names.includes(node)) return undefined
    const signal = AbortSignal.timeout(settings().deadlines.node_ms)
    try {
      return await ask(await media.client(node, signal), signal)
    } catch (error) {
      if (!signal.aborted && !(error instanceof NodeError)) throw error
      throw new RefusalError(refusal('embeddedSilent'), { cause: error })
    }
  }
  const statsOf = async (node: string, roomId: string | undefined): Promise<Stats> => {
    const params = roomId === undefined ? {} : { roomId }
    return (await fromNode(node, (client, signal) => client.request('stats', params, signal))) ?? nothing
  }
  /** Returns statistics of one room, or of all. A node that does not respond is omitted if another node responds. */
  const stats = async (roomId: string | undefined): Promise<Stats> => {
    const names = media?.names ?? []
    const asked = roomId === undefined ? names : names.filter((name) => name === nodeOf(roomId))
    const answers = await Promise.allSettled(asked.map((name) => statsOf(name, roomId)))
    const read = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    const remote = await gateway.streamsOf(roomId, AbortSignal.timeout(settings().deadlines.node_ms))
    read.push({ streams: remote, connections: [] })
    const failed = answers.find((answer) => answer.status === 'rejected')
    if (read.length === 1 && failed !== undefined) throw failed.reason
    return {
      streams: read.flatMap(({ streams }) => streams),
      connections: read.flatMap(({ connections }) => connections),
    }
  }
  const transcoding = async (node: string): Promise<ProcedureOutput<'media.transcoding'>> => {
    if (media === undefined) return []
    const signal = AbortSignal.timeout(settings().deadlines.node_ms)
    try {
      const client = await media.client(node, signal)
      return [{ node, ...(await client.request('transcoding', {}, signal)) }]
    } catch (error) {
      if (!signal.aborted && !(error instanceof NodeError)) throw error
      return []
    }
  }
  const preview = async (roomId: string, streamId: string): Promise<PreviewView> => {
    const { token, expires_at } = joinLinks.observer(roomId)
    const { streams } = await stats(roomId)
    if (!streams.some(({ stream_id }) => stream_id === streamId)) {
      throw new RefusalError(refusal('streamNotFound'))
    }
    const path = [roomId, streamId].map(encodeURIComponent).join('/')
    const url = `${joinLinks.nodeUrl(roomId)}/whep/${path}`
    return { room_id: roomId, stream_id: streamId, url, token, expires_at, ice_servers: settings().media.ice_servers }
  }
  const patience = (): AbortSignal => AbortSignal.timeout(settings().deadlines.node_ms)
  // Uses the node's direct address: the public addresses may be those of a proxy in front of the site.
  const ownUrl = (roomId: string): string => {
    const place = media?.placeOf(nodeOf(roomId))
    if (place === undefined) throw new RefusalError(refusal('embeddedSilent'))
    return listenerUrl(place.host, place.port, place.tls === undefined ? 'http' : 'https')
  }
  return {
    'media.stats': async ({ room_id }) => ({ at: Date.now(), ...(await stats(room_id)) }),
    'media.transcoding': async () => (await Promise.all((media?.names ?? []).map(transcoding))).flat(),
    'media.preview_stream': ({ room_id, stream_id }) => preview(room_id, stream_id),
    'media.preview_device': {
      subjects: ({ userId }, store) => [subject.room(store.get('devices', userId)?.roomId ?? '')],
      run: ({ userId }) => {
        const device = requireDeviceView(outgoing, userId)
        if (device.state !== 'joined') {
          const why = device.last_error === null ? refusal('deviceNotJoined') : refusalOfDevice(device.last_error.kind)
          throw new RefusalError({ ...why, code: 'conflict' })
        }
        return preview(device.roomId, userId)
      },
    },
    'media.key_picture': async ({ userId }) => {
      const device = requireDeviceView(outgoing, userId)
      if (!settings().console.thumbnails || device.state !== 'joined') return { picture: null }
      const answer = await fromNode(nodeOf(device.roomId), (client, signal) =>
        client.request('key_picture', { roomId: device.roomId, streamId: userId }, signal),
      )
      return answer ?? { picture: null }
    },
    'media.watch': {
      // A camera added by the operator is not a person: watching it requires no consent.
      subjects: ({ room_id, stream_id }) => (isCamera(store, room_id, stream_id) ? [] : [subject.room(room_id)]),
      run: async ({ room_id, stream_id, small, height, offer }, { role }) => {
        const opened = atLeast(role, 'operator') || settings().console.viewers_watch
        if (!opened && !isCamera(store, room_id, stream_id)) throw new RefusalError(refusal('watchingPeople'))
        if (isRemote(room_id)) {
          const request = { roomId: room_id, streamId: stream_id, small, height: height ?? null }
          const { session, offer: answer } = await previews.watch(request, patience())
          return { answer, session, offered: true }
        }
        const { url, token } = await preview(room_id, stream_id)
        const size = height === undefined ? (small ? '?size=small' : '') : `?height=${height}`
        const own = `${ownUrl(room_id)}${new URL(url).pathname}${size}`
        const { sdp, session, offered } = await passOffer(own, token, offer, patience())
        return { answer: sdp, session, offered }
      },
    },
    'media.answer': async ({ room_id, session, answer }) => {
      if (previews.has(session) || isRemote(room_id)) await previews.answer(session, answer, patience())
      else await passAnswer(ownUrl(room_id), session, answer, patience())
      return {}
    },
    'media.show': async ({ room_id, session, height }) => {
      if (previews.has(session)) return { there: await previews.resize(session, height, patience()) }
      if (isRemote(room_id)) return { there: false }
      const answer = await fromNode(nodeOf(room_id), (client, signal) =>
        client.request('show', { session, height }, signal),
      )
      return answer ?? { there: false }
    },
    'media.unwatch': async ({ room_id, session }) => {
      if (previews.has(session)) await previews.end(session, patience())
      // Otherwise nothing remains to end: a remote preview has ended with its session, a local preview with its room.
      else if (!isRemote(room_id) && nodeOf(room_id) !== '') await endSession(ownUrl(room_id), session, patience())
      return {}
    },
    'media.announce_restart': ({ in_ms }) => {
      const at = Date.now() + in_ms
      media?.announceRestart(at)
      return { restarts_at: at }
    },
    'media.withdraw_restart': () => {
      media?.announceRestart(0)
      return {}
    },
    'media.join_link': {
      facts: ({ user_id = '', role }, planned) => ({ user: user_id, role, ...expiryOf(planned) }),
      run: ({ room_id, user_id, user_name, role, life_ms }, origin) =>
        joinLinks.make({
          ...{ roomId: room_id, userId: user_id, userName: user_name, role, lifeMs: life_ms },
          maker: makerOf(origin),
        }),
    },
    'media.join_now': {
      facts: (_, planned) => expiryOf(planned),
      run: ({ room_id }, origin) =>
        joinLinks.make({
          ...{ roomId: room_id, userName: origin.account, role: 'host', lifeMs: tokenKinds.join.lifetime.ownMs },
          maker: makerOf(origin),
        }),
    },
    'media.participant_token': letIn,
    'media.revoke_links': async ({ room_id, url }, origin) => {
      const link = joinLinks.revocation(room_id, url)
      const ended = capabilities
        .list({ roomId: room_id })
        .filter((listed) => listed.kind === 'join' && (link === '' || listed.link === link))
      await capabilities.revoke(
        ended.map(({ id }) => id),
        guardRevocation('media.revoke_links', origin),
      )
      // Links created by earlier versions are not stored as capabilities.
      await removals.revokeLinks(room_id, link)
      return {}
    },
  }
}

/** Returns the expiry of the capability created by a transaction. */
function expiryOf(planned: PlannedChange | undefined): EventParams {
  const [made] = planned === undefined ? [] : recordsPut(planned, 'capabilities')
  return made === undefined ? {} : { expires_at: made.expires_at }
}

/** Whether a stream of a room belongs to a camera added by the operator, not to a person. */
function isCamera(store: Pick<Store, 'get'>, roomId: string, streamId: string): boolean {
  return store.get('devices', streamId)?.roomId === roomId
}

interface ParticipantTokenDependencies {
  store: Pick<Store, 'get'>
  rooms: Pick<Rooms, 'get'>
  pool: Pick<NodePool, 'callerNodes'>
  janus: Pick<JanusNodes, 'letIn'>
  settings: () => Settings
}

/**
 * Gives a participant access to a room on a Janus node through Janus's own API. Assigns a node to a room without a
 * node.
 */
export function participantTokens(dependencies: ParticipantTokenDependencies): Handler<'media.participant_token'> {
  const { store, rooms, pool, janus, settings } = dependencies
  return async ({
    room_id: roomId,
    user_id: userId,
    user_name: userName,
    role,
    idc_code: idcCode,
    life_ms: lifeMs,
  }) => {
    const room = rooms.get(roomId)
    if (isShut(room)) throw shutError(room)
    if (store.get('devices', userId)?.roomId === roomId)
      throw new RefusalError(refusal('participantIsDevice'), { fields: ['user_id'] })
    const signal = AbortSignal.timeout(settings().deadlines.node_ms)
    const name = await pool.callerNodes.nodeFor(roomId, { idcCode }, signal)
    if (store.get('nodes', name)?.kind !== 'janus') throw new RefusalError(refusal('roomNotOnJanus'))
    // Janus accepts only whole seconds.
    const expiresAt = Math.ceil((Date.now() + (lifeMs ?? settings().media.link_life_ms)) / 1_000)
    try {
      const { wsUrl, room, token, roomToken } = await janus.letIn(name, { roomId, userId, role, expiresAt }, signal)
      return {
        ws_url: wsUrl,
        room,
        id: userId,
        display: userName ?? userId,
        token,
        room_token: roomToken,
        expires_at: expiresAt * 1_000,
      }
    } catch (error) {
      if (signal.aborted || error instanceof NodeConnectionError || error instanceof JanusError)
        throw new RefusalError(refusal('janusSilent'), { cause: error })
      // The error message of the driver contains the reason.
      if (error instanceof NodeError)
        throw new RefusalError(refusal('participantRefused', { reason: error.message }), { cause: error })
      throw error
    }
  }
}
