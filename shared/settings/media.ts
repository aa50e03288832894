import { z } from 'zod'
import { rule } from '../refusals/complaints.ts'
import { choice, integer, lines, structure, text, toggle } from './setting.ts'

/** STUN or TURN server in the format of browsers (RTCIceServer). */
export const iceServerSchema = z.strictObject({
  urls: z
    .array(z.string().regex(/^(stun|stuns|turn|turns):\S+$/, rule('iceServer')))
    .min(1)
    .max(8),
  username: z.string().max(256).default(''),
  credential: z.string().max(256).default(''),
})
export type IceServer = z.output<typeof iceServerSchema>

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const bitrate = { range: [100_000, 100_000_000], unit: 'bit/s' } as const

/** The embedded media node, and join links. All settings except `udp_port` apply to a running node. */
export const media = {
  /**
   * STUN and TURN servers, which are sent to browsers for connections through firewalls. People's media may be sent
   * through these servers.
   */
  ice_servers: structure(
    { schema: z.array(iceServerSchema).max(16), default: [], control: 'iceServers' },
    { card: 'transport', order: 3, access: 'person', restarts: 'nothing' },
  ),
  /** IP addresses offered to browsers instead of the machine's own addresses; empty: the machine's own. */
  advertised: lines(
    { schema: z.array(z.string().min(1).max(253)).max(16), default: [] },
    { card: 'transport', order: 2, access: 'person', restarts: 'nothing' },
  ),
  /**
   * Time during which a removed user is refused. Changes require a person, because with a shorter time a removed user
   * could return at once.
   */
  ban_ms: integer(
    { range: [0, day], unit: 'ms', default: minute },
    { card: 'people', order: 4, access: 'person', restarts: 'nothing' },
  ),
  /** Time within which a user with a lost signaling connection may resume. */
  resume_ms: integer(
    { range: [1, hour], unit: 'ms', default: 15_000 },
    { card: 'people', order: 5, access: 'open', restarts: 'nothing' },
  ),
  /** Whether to accept RTSPS cameras with self-signed certificates. */
  trust_any_certificate: toggle(
    { default: false },
    { card: 'cameras', order: 3, access: 'person', restarts: 'nothing' },
  ),
  camera_transport: choice(
    { choices: ['auto', 'udp'], default: 'auto' },
    { card: 'cameras', order: 1, access: 'open', restarts: 'nothing' },
  ),
  /** Permitted IP addresses and networks (CIDR) of cameras; empty: all. */
  camera_networks: lines(
    { schema: z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], rule('network'))).max(64), default: [] },
    { card: 'cameras', order: 2, access: 'person', restarts: 'nothing' },
  ),
  /** Maximum time for each response of a camera. */
  camera_answer_ms: integer(
    { range: [1, hour], unit: 'ms', default: 4_000 },
    { card: 'cameras', order: 4, access: 'open', restarts: 'nothing' },
  ),
  /** Time without media after which a camera counts as stalled. */
  camera_stall_ms: integer(
    { range: [1, hour], unit: 'ms', default: 5_000 },
    { card: 'cameras', order: 5, access: 'open', restarts: 'nothing' },
  ),
  publish_bitrate: integer(
    { ...bitrate, default: 2_500_000 },
    { card: 'people', order: 2, access: 'open', restarts: 'nothing' },
  ),
  /** Maximum number of cameras whose pictures are transcoded with ffmpeg; 0: ffmpeg is not used. */
  transcoders: integer(
    { range: [0, 64], unit: 'count', default: 4 },
    { card: 'cameras', order: 6, access: 'open', restarts: 'nothing' },
  ),
  screen_bitrate: integer(
    { ...bitrate, default: 4_000_000 },
    { card: 'people', order: 3, access: 'open', restarts: 'nothing' },
  ),
  /**
   * Maximum number of tiles on the room page. If there are more users, recent speakers are shown; all others are listed
   * and audible.
   */
  most_tiles: integer(
    { range: [2, 49], unit: 'count', default: 12 },
    { card: 'people', order: 1, access: 'open', restarts: 'nothing' },
  ),
  /** UDP port of all WebRTC media; 0: the same number as the node port if it is free. */
  udp_port: integer(
    { range: [0, 65_535], unit: 'port', default: 0 },
    { card: 'transport', order: 1, access: 'person', restarts: 'node' },
  ),
  /**
   * Base URL of join links, before `/jroom/` and `/j/`, e.g. `https://rooms.example.org`; empty: the media API's own
   * address.
   */
  public_url: text(
    {
      schema: z
        .string()
        .max(300)
        .regex(/^(https?:\/\/[^\s/?#]+(\/[^\s?#]*[^\s/?#])?)?$/, rule('webAddress')),
      default: '',
    },
    { card: 'links', order: 1, access: 'person', restarts: 'nothing' },
  ),
  /** Whether all rooms can be joined by number. A room can override this setting. */
  open_rooms: toggle({ default: false }, { card: 'links', order: 3, access: 'person', restarts: 'nothing' }),
  link_life_ms: integer(
    { range: [minute, 30 * day], unit: 'ms', default: day },
    { card: 'links', order: 2, access: 'person', restarts: 'nothing' },
  ),
}
