import { isIP } from 'node:net'
import type { Settings } from '../../../shared/settings.ts'
import type { StoredNode } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { MediaConfiguration } from './embedded-media-options.ts'
import { labNode } from './lab-node.ts'
import { joinKeyOf, tokenKeyOf } from '../secrets/node-secrets.ts'

/** Facts about the site for an embedded node. */
export interface SitePlaces {
  /** Ports on which the controller listens. */
  sitePorts: readonly number[]
  /** Addresses of the other nodes and the other controllers. */
  otherNodes: readonly string[]
  /** See `page_origins` of the settings of a node. */
  pageOrigins: readonly string[]
  /** See `lease_ms` of the settings of a node. */
  leaseMs: number
  /** Announced time of a restart of the controller, in milliseconds since the epoch; 0: none. */
  restartsAt: number
}

/**
 * Returns the configuration of an embedded node, from the settings, its record and its site. If the settings advertise
 * no addresses, the addresses of the node's record are advertised: clients that reach the node at an address also reach
 * its media there.
 */
export function mediaConfiguration(
  node: StoredNode,
  { media, recording }: Pick<Settings, 'media' | 'deadlines' | 'recording'>,
  store: Pick<Store, 'unseal' | 'all'>,
  { sitePorts, otherNodes, pageOrigins, leaseMs, restartsAt }: SitePlaces,
): MediaConfiguration {
  const { udp_port: udpPort, public_url: _publicUrl, open_rooms: _open, link_life_ms: _linkLife, ...settings } = media
  const advertised =
    settings.advertised.length > 0 ? settings.advertised : node.addresses.flatMap(({ addr }) => ipOf(addr))
  const runsLab = node.name === labNode(store)
  return {
    // The room page of a Janus node accepts the site's links, even if the site's embedded nodes are out of service.
    tokenKey: node.kind === 'janus' ? (joinKeyOf(store) ?? tokenKeyOf(node, store)) : tokenKeyOf(node, store),
    // The setting applies to the node at the node port, because two processes cannot share a port.
    udpPort: node.port === 0 ? udpPort : 0,
    settings: {
      ...settings,
      advertised: [...new Set(advertised)],
      site_ports: [...sitePorts],
      other_nodes: [...otherNodes],
      page_origins: [...pageOrigins],
      lease_ms: leaseMs,
      restarts_at: restartsAt,
      hosts_record: recording.hosts,
      recording_aloud: recording.announce,
      test_cameras: runsLab ? [...store.all('test_cameras').values()] : [],
      test_people: runsLab ? [...store.all('test_people').values()] : [],
    },
  }
}

/** Returns the IP address of `host:port`; nothing for a name or a wildcard address. */
function ipOf(addr: string): string[] {
  const host = addr.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  return isIP(host) === 0 || host === '0.0.0.0' || host === '::' ? [] : [host]
}
