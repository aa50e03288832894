import { serverInfo } from '../../shared/field-operations.ts'
import type { IceServer } from '../../shared/settings/media.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import { type AnyOperation, implement } from '../http/operation.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'

/** Needs of server_info. */
export interface ServerInfoServices {
  pool: Pick<NodePool, 'views' | 'address'>
  settings: () => Settings
  /** Address of the media API unless the settings name another; empty while it does not listen. */
  mediaUrl: () => string
}

/** An ICE server as the original SDKs read it. */
interface OlderIceServer {
  url: string
  username: string
  credential: string
}

/** `GET /sdk/config/serverinfo` (contract, section 5). */
export function serverInfoOperation({ pool, settings, mediaUrl }: ServerInfoServices): AnyOperation {
  return implement(serverInfo, () => {
    const { media, tls } = settings()
    return {
      room_server: { uri: someNode(pool), protocol: tls.mode === 'off' ? 'ws' : 'wss' },
      ice_servers: olderIceServers(media.ice_servers),
      is_cluster: true,
      ft_value: { ft_record_audio: 1, ft_record_video: 1, ft_livebroadcast: 1 },
      rest_uri: (media.public_url || mediaUrl()).replace(/^https?:\/\//, ''),
    }
  })
}

/** A node that may serve rooms: which one serves a room, get_mcu says. @throws ApiError noNode */
function someNode(pool: ServerInfoServices['pool']): string {
  const nodes = pool.views().filter(({ config }) => config.enabled)
  const node = nodes.find(({ state }) => state === 'online') ?? nodes[0]
  if (node === undefined) throw new ApiError('noNode')
  return pool.address(node.config.name)
}

/** STUN first and TURN second: the SDKs read exactly these two, and fail on one alone. Without a TURN server: none. */
function olderIceServers(servers: readonly IceServer[]): OlderIceServer[] {
  const all = servers.flatMap(({ urls, ...login }) => urls.map((url) => ({ url, ...login })))
  const turn = all.find(({ url }) => /^turns?:/.test(url))
  if (turn === undefined) return []
  const stun = all.find(({ url }) => /^stuns?:/.test(url))?.url ?? stunOf(turn.url)
  return [{ url: stun, username: '', credential: '' }, turn]
}

/** A TURN server answers STUN as well (RFC 8656, section 5). */
function stunOf(turnUrl: string): string {
  return turnUrl.replace(/^turn/, 'stun').replace(/\?.*$/, '')
}
