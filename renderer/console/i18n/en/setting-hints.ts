import { pictures } from './pictures.ts'
import { recording } from './recording.ts'

/** Hints below the settings. */
export const hints = {
  cors_origins: 'One per line, e.g. https://portal.example.org; * allows any origin.',
  compatibility: {
    older_clients: 'They work unmodified, except for joining a room. Others see only added fields and paths.',
    get_access_token: 'Works only while older clients are answered.',
  },
  listeners: {
    host: '127.0.0.1: this machine only. 0.0.0.0: every network it is on.',
    link_address:
      'With 0.0.0.0 and several networks: the IPv4 address of this machine that join links name. Empty: the first one.',
    media_port: '',
    device_port: '',
    node_port: '',
    console_port: '',
    serve_console: '',
    event_port:
      'Janus nodes report here who joins and leaves. Empty: off, they are polled every few seconds. After a change, install their configuration files again.',
  },
  tls: {
    mode: 'A self-signed certificate is created here; clients must trust it.',
    cert_file: 'PEM, with the chain after the certificate; a path on the controller’s machine.',
    key_file: 'PEM, without a passphrase.',
  },
  access: {
    digest_forms: 'A session token has the same form as its digest.',
    token_idle_ms: '',
    token_life_ms: '',
    failures_per_minute: 'Beyond this the address is refused for the rest of the minute; 0 = unlimited.',
  },
  media: {
    public_url:
      'The part before /jroom/ and /j/, e.g. https://rooms.example.org. If empty: the address of the media API.',
    link_life_ms: 'Unless specified when the link is created.',
    open_rooms:
      'Without a join link; only a name is asked for. Each room can override this; nobody can join a locked or closed room.',
    udp_port: '0: same number as the media node’s port. A change restarts the node: people reconnect automatically.',
    advertised: 'IP addresses, one per line, if the machine’s own are not reachable (NAT). If empty: its own.',
    ice_servers: 'Given to browsers to get through firewalls.',
    camera_transport: '',
    camera_networks: 'IP addresses or networks, one per line, e.g. 192.168.10.0/24. If empty: any.',
    trust_any_certificate: 'Most cameras have a certificate that no authority signed.',
    camera_answer_ms: '',
    camera_stall_ms: '',
    most_tiles: 'If there are more, the most recent speakers are shown; the others are listed and heard.',
    transcoders:
      'H.265, Motion JPEG and the like are converted by ffmpeg, if installed, while somebody watches; each takes up to half a CPU core. Sound only: eight times as many. 0 = never.',
    publish_bitrate: '',
    screen_bitrate: '',
    ban_ms: '',
    resume_ms: '',
  },
  room_defaults: { attendee_max: '', max_video: '', max_audio: '' },
  devices: {
    reconnect_first_ms: '',
    reconnect_longest_ms: '',
    reconnect_steady_ms: 'A device that drops sooner after joining waits longer each time.',
  },
  deadlines: {
    store_ms: 'After that a change gets 700, an authentication 504.',
    node_ms: 'After that 409. Public clients give up after 5 s.',
    device_ms: 'After that creating an outgoing user gets 427.',
    health_ms: '',
    health_interval_ms: '',
    shutdown_ms: 'When the controller stops or a listener address changes.',
  },
  console: {
    language: '',
    theme: '',
    thumbnails: 'Of joined cameras, refreshed every minute. Kept only in the browser that shows the list.',
    viewers_watch:
      'People do not see that they are being watched. Off: operators and admins only. Viewers can always watch cameras.',
    activity_entries: '5,000 take about 5 MB. The oldest are dropped first.',
    metrics_token: 'Otherwise anyone who can reach the console port can read them.',
  },
  events: { days: '', megabytes: '200 MB hold about half a million events.' },
  backups: { count: '', days: '0 = unlimited.' },
  pictures: pictures.hints,
  live: {
    embed_origins: 'Origins, one per line, e.g. https://intranet.example.org. If empty: only this site.',
    push_networks:
      'IP addresses or networks, one per line, e.g. 192.0.2.0/24. If empty: any, except this machine, link-local addresses and metadata services.',
    push_ca_file:
      'PEM file on the machine of Roomdesk, for rtmps:// with a certificate of your own authority. If empty: only well-known authorities.',
  },
  ...recording.settings.hints,
  trash: { days: '0 = off: what is deleted cannot be restored. Applies to later deletions.' },
}
