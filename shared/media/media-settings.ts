import { z } from 'zod'

const milliseconds = z.int().min(1).max(3_600_000)

/** A STUN or TURN server as browsers take it (RTCIceServer). */
export const iceServerSchema = z.strictObject({
  urls: z
    .array(z.string().regex(/^(stun|stuns|turn|turns):\S+$/))
    .min(1)
    .max(8),
  username: z.string().max(256).default(''),
  credential: z.string().max(256).default(''),
})
export type IceServer = z.output<typeof iceServerSchema>

/** Settings of a running node that an operator can change. */
export const operatorMediaSettingsSchema = z.strictObject({
  /** Given to browsers, so that they get through firewalls. */
  ice_servers: z.array(iceServerSchema).max(16).default([]),
  /** IP addresses offered to browsers instead of the machine's own. */
  advertised: z.array(z.string().min(1).max(253)).max(16).default([]),
  /** How long somebody who was removed is refused. */
  ban_ms: z.int().min(0).max(86_400_000).default(60_000),
  /** How long a person whose signalling connection was lost may come back. */
  resume_ms: milliseconds.default(15_000),
  /** RTSPS: take cameras whose certificate no authority signed. */
  trust_any_certificate: z.boolean().default(false),
  camera_transport: z.enum(['auto', 'udp']).default('auto'),
  /** IP addresses and networks (CIDR) that cameras may be in; none: everywhere. */
  camera_networks: z
    .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'must be an IP address, or a network as 10.0.0.0/8'))
    .max(64)
    .default([]),
  /** Deadline of each answer of a camera. */
  camera_answer_ms: milliseconds.default(4_000),
  /** A camera that sends nothing for so long has stalled. */
  camera_stall_ms: milliseconds.default(5_000),
  /** Limit of what a browser may send, in bits per second. */
  publish_bitrate: z.int().min(100_000).max(100_000_000).default(2_500_000),
  /** Cameras whose pictures are made playable with ffmpeg at once; 0: ffmpeg is not used. */
  transcoders: z.int().min(0).max(64).default(4),
  screen_bitrate: z.int().min(100_000).max(100_000_000).default(4_000_000),
  /** Tiles that the room page shows at once: of more people those who spoke last, the others are listed and heard. */
  most_tiles: z.int().min(2).max(49).default(12),
})

/** Facts that can change while the node runs. */
export const mediaSettingsSchema = operatorMediaSettingsSchema.extend({
  /** Ports of the controller: no camera is called there on this machine. The node adds its own. */
  site_ports: z.array(z.int().min(1).max(65_535)).max(256).default([]),
  /** Addresses at which people reach the other nodes of the site, and the node ports of its other controllers, e.g. `http://10.0.0.5:7084`. */
  other_nodes: z.array(z.string().max(600)).max(64).default([]),
  /** Milliseconds of silence after which another controller of the site leads; 0: there is none. */
  lease_ms: z.int().min(0).max(60_000).default(0),
  /** A device that sends no media within so long has not joined. The controller's own deadline is a little later: past it the node has not answered. */
  join_ms: milliseconds.default(4_000),
})
export type MediaSettings = z.output<typeof mediaSettingsSchema>
