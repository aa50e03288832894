import { operationsOfOlderClients, type getAccessToken, type serverInfo } from '../../shared/field-operations.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { IceServer } from '../../shared/settings/media.ts'
import type { Settings } from '../../shared/settings.ts'
import { digestText, hmacKey } from '../access/digest.ts'
import { destroyUser, identityOf, listedItem } from '../devices/outgoing-answers.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import { type AnyOperation, type Handler, type HandlersOf, implement } from '../http/operation.ts'
import { type AuthenticateServices, signIn } from './authenticate.ts'
import { createdRoom, mcuOf } from './media-operations.ts'
import type { SiteNodes } from '../nodes/pool/site-nodes.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import { optionsAsMeant } from '../http/older-clients.ts'
import { recordHandlers, type RecordServices } from './record-operations.ts'

export interface FieldServices extends AuthenticateServices, ServerInfoServices, RecordServices {
  rooms: Rooms
  outgoing: OutgoingUsers
}

/**
 * Returns the operations for clients of the original platform, by port: additional operations, and replacements for
 * operations with the same path.
 */
export function implementFieldOperations(services: FieldServices): { media: AnyOperation[]; device: AnyOperation[] } {
  const { rooms, outgoing } = services
  const ofDevices: HandlersOf<typeof operationsOfOlderClients.device> = {
    create_outgoing_user: async ({ userName, options, ...given }) => {
      const named = { ...given, userName: userName || given.userId, options: optionsAsMeant(options) }
      return { data: identityOf(await outgoing.creation.create(named)) }
    },
    destroy_outgoing_user: (given, { accessKey }) => destroyUser(outgoing, given, accessKey),
    list_outgoing_users: ({ roomId }) => {
      const items = outgoing.list(roomId).map((device) => ({
        ...listedItem(device),
        room_id: device.roomId,
        user_id: device.userId,
        user_name: device.userName,
        user_address: device.userAddress,
      }))
      return { data: { total: items.length, items } }
    },
    get_access_token: accessTokenHandler(services),
    ...recordHandlers(services),
  }
  return {
    device: implement(operationsOfOlderClients.device, ofDevices),
    // These clients have one base address for both APIs, so all operations are on this port.
    media: implement(operationsOfOlderClients.media, {
      create_room: (wanted, { accessKey }) => createdRoom(rooms, wanted, accessKey),
      get_mcu: ({ room_id, options }) => mcuOf(rooms, room_id, optionsAsMeant(options)),
      server_info: serverInfoHandler(services),
      ...ofDevices,
    }),
  }
}

/**
 * `GET /avd/api/admin/getAccessToken` (contract, section 5): exchanges a key pair in a URL for a token. The secret is
 * only used to compute the digest that its owner would have sent, which is then checked as usual.
 */
function accessTokenHandler(services: AuthenticateServices): Handler<typeof getAccessToken> {
  const { digests, settings } = services
  return ({ accessKey, secretKey }, { client }) => {
    const forms = settings().access.digest_forms
    const [form = 'sha1-hex'] = forms
    const digest = digestText(form, hmacKey(secretKey), accessKey)
    return signIn(
      services,
      client,
      () => digests.check(accessKey, digest, forms),
      ({ random, key }, found) => ({
        data: { accessToken: digestText(found.form, found.key, `${random}:${key}`) },
      }),
    )
  }
}

interface ServerInfoServices {
  nodes: Pick<SiteNodes, 'views' | 'address'>
  settings: () => Settings
  /**
   * Returns the address of the media API, used without the setting `media.public_url`; empty while the port is closed.
   */
  mediaUrl: () => string
}

/** ICE server in the format of the original SDKs. */
interface OlderIceServer {
  url: string
  username: string
  credential: string
}

/** `GET /sdk/config/serverinfo` (contract, section 5). */
function serverInfoHandler({ nodes, settings, mediaUrl }: ServerInfoServices): Handler<typeof serverInfo> {
  return () => {
    const { media, tls } = settings()
    return {
      room_server: { uri: someNode(nodes), protocol: tls.mode === 'off' ? 'ws' : 'wss' },
      ice_servers: olderIceServers(media.ice_servers),
      is_cluster: true,
      ft_value: { ft_record_audio: 1, ft_record_video: 1, ft_livebroadcast: 1 },
      rest_uri: (media.public_url || mediaUrl()).replace(/^https?:\/\//, ''),
    }
  }
}

/** Returns a node that can serve rooms. The node of a specific room is returned by get_mcu. @throws ApiError noNode */
function someNode(nodes: ServerInfoServices['nodes']): string {
  const enabled = nodes.views().filter(({ config }) => config.enabled)
  const node = enabled.find(({ state }) => state === 'online') ?? enabled[0]
  if (node === undefined) throw new ApiError('noNode')
  return nodes.address(node.config.name)
}

/**
 * Returns two ICE servers, STUN first and TURN second: the SDKs read exactly two servers, and fail with one. Empty
 * without a TURN server.
 */
function olderIceServers(servers: readonly IceServer[]): OlderIceServer[] {
  const all = servers.flatMap(({ urls, ...login }) => urls.map((url) => ({ url, ...login })))
  const turn = all.find(({ url }) => /^turns?:/.test(url))
  if (turn === undefined) return []
  const stun = all.find(({ url }) => /^stuns?:/.test(url))?.url ?? stunOf(turn.url)
  return [{ url: stun, username: '', credential: '' }, turn]
}

/** Returns the STUN address of a TURN server, which also serves STUN (RFC 8656, section 5). */
function stunOf(turnUrl: string): string {
  return turnUrl.replace(/^turn/, 'stun').replace(/\?.*$/, '')
}
