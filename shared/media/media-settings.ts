import { rule } from '../refusals/complaints.ts'
import { z } from 'zod'

const milliseconds = z.int().min(1).max(3_600_000)

/** A STUN or TURN server in the format of browsers (RTCIceServer). */
export const iceServerSchema = z.strictObject({
  urls: z
    .array(z.string().regex(/^(stun|stuns|turn|turns):\S+$/, rule('iceServer')))
    .min(1)
    .max(8),
  username: z.string().max(256).default(''),
  credential: z.string().max(256).default(''),
})
export type IceServer = z.output<typeof iceServerSchema>

/** Settings of a running node that an operator can change. */
export const operatorMediaSettingsSchema = z.strictObject({
  /** Sent to browsers, for connections through firewalls. */
  ice_servers: z.array(iceServerSchema).max(16).default([]),
  /** IP addresses offered to browsers in place of the machine's own. */
  advertised: z.array(z.string().min(1).max(253)).max(16).default([]),
  /** Time during which a removed user is refused, in milliseconds. */
  ban_ms: z.int().min(0).max(86_400_000).default(60_000),
  /** Time in which a user with a lost signalling connection may resume, in milliseconds. */
  resume_ms: milliseconds.default(15_000),
  /** RTSPS: accept cameras with self-signed certificates. */
  trust_any_certificate: z.boolean().default(false),
  camera_transport: z.enum(['auto', 'udp']).default('auto'),
  /** IP addresses and networks (CIDR) of permitted cameras; empty: all. */
  camera_networks: z
    .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], rule('network')))
    .max(64)
    .default([]),
  /** Timeout of each answer of a camera. */
  camera_answer_ms: milliseconds.default(4_000),
  /** Time without media after which a camera counts as stalled. */
  camera_stall_ms: milliseconds.default(5_000),
  /** Maximum bitrate of a browser, in bit/s. */
  publish_bitrate: z.int().min(100_000).max(100_000_000).default(2_500_000),
  /** Maximum number of cameras whose pictures are transcoded with ffmpeg; 0: ffmpeg is not used. */
  transcoders: z.int().min(0).max(64).default(4),
  screen_bitrate: z.int().min(100_000).max(100_000_000).default(4_000_000),
  /** Maximum number of tiles on the room page: with more users, recent speakers are shown, and the others are listed and audible. */
  most_tiles: z.int().min(2).max(49).default(12),
})

/** Facts that may change while the node runs. */
export const mediaSettingsSchema = operatorMediaSettingsSchema.extend({
  /** Ports of the controller: no camera on them is called on this machine. The node adds its own. */
  site_ports: z.array(z.int().min(1).max(65_535)).max(256).default([]),
  /** Addresses of the site's other nodes, and node ports of its other controllers, e.g. `http://10.0.0.5:7084`. */
  other_nodes: z.array(z.string().max(600)).max(64).default([]),
  /** Origins to which the room page may connect, besides its own: all embedded nodes of the site, also disabled ones, and node ports of its controllers. */
  page_origins: z.array(z.string().max(600)).max(256).default([]),
  /** Time of silence after which another controller of the site leads, in milliseconds; 0: there is none. */
  lease_ms: z.int().min(0).max(60_000).default(0),
  /** Announced restart of the node, in milliseconds since the epoch; 0: none. */
  restarts_at: z.int().min(0).default(0),
  /** Hosts may start and stop the recording of their room. */
  hosts_record: z.boolean().default(false),
  /** The room page says aloud that a room is recorded. */
  recording_aloud: z.boolean().default(true),
})
export type MediaSettings = z.output<typeof mediaSettingsSchema>
