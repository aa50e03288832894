import type { SettingTexts } from '../../../../shared/settings.ts'

/** Label and hint of each setting that a card shows. */
export const settingTexts = {
  listeners: {
    host: { label: 'Bind address', hint: '127.0.0.1: this machine only. 0.0.0.0: every network it is on.' },
    link_address: {
      label: 'Address in links',
      hint: 'With 0.0.0.0 and several networks: the IPv4 address of this machine that join links name. Empty: the first one.',
    },
    media_port: { label: 'Media room API', hint: '' },
    device_port: { label: 'External device API', hint: '' },
    node_port: { label: 'Media node', hint: '' },
    console_port: { label: 'Console', hint: '' },
    serve_console: { label: 'Serve the console to browsers', hint: '' },
    event_port: {
      label: 'Events of Janus nodes',
      hint: 'Janus nodes report here who joins and leaves. Empty: off, they are polled every few seconds. After a change, install their configuration files again.',
    },
  },
  tls: {
    mode: { label: 'Certificate', hint: 'A self-signed certificate is created here; clients must trust it.' },
    cert_file: {
      label: 'Certificate file',
      hint: 'PEM, with the chain after the certificate; a path on the controller’s machine.',
    },
    key_file: { label: 'Key file', hint: 'PEM, without a passphrase.' },
  },
  access: {
    digest_forms: { label: 'Accepted digest forms', hint: 'A session token has the same form as its digest.' },
    token_idle_ms: { label: 'Session idle timeout', hint: '' },
    token_life_ms: { label: 'Maximum session length', hint: '' },
    failures_per_minute: {
      label: 'Failed authentications per minute and address',
      hint: 'Beyond this the address is refused for the rest of the minute; 0 = unlimited.',
    },
  },
  cors_origins: { label: 'Origins', hint: 'One per line, e.g. https://portal.example.org; * allows any origin.' },
  room_defaults: {
    attendee_max: { label: 'Max. participants', hint: '' },
    max_video: { label: 'Max. video streams', hint: '' },
    max_audio: { label: 'Max. audio streams', hint: '' },
  },
  deadlines: {
    store_ms: { label: 'Disk', hint: 'After that a change gets 700, an authentication 504.' },
    node_ms: { label: 'MCU node response', hint: 'After that 409. Public clients give up after 5 s.' },
    device_ms: { label: 'First packet from a device', hint: 'After that creating an outgoing user gets 427.' },
    health_ms: { label: 'Node health check', hint: '' },
    health_interval_ms: { label: 'Health check interval', hint: '' },
    shutdown_ms: {
      label: 'Requests in progress at shutdown',
      hint: 'When the controller stops or a listener address changes.',
    },
  },
  devices: {
    reconnect_first_ms: { label: 'First wait', hint: '' },
    reconnect_longest_ms: { label: 'Longest wait', hint: '' },
    reconnect_steady_ms: {
      label: 'Considered stable after',
      hint: 'A device that drops sooner after joining waits longer each time.',
    },
  },
  media: {
    ice_servers: { label: 'STUN and TURN servers', hint: 'Given to browsers to get through firewalls.' },
    advertised: {
      label: 'Addresses offered to browsers',
      hint: 'IP addresses, one per line, if the machine’s own are not reachable (NAT). If empty: its own.',
    },
    ban_ms: { label: 'Removed people are refused for', hint: '' },
    resume_ms: { label: 'After a lost connection, people can resume within', hint: '' },
    trust_any_certificate: {
      label: 'Trust any camera certificate (RTSPS)',
      hint: 'Most cameras have a certificate that no authority signed.',
    },
    camera_transport: { label: 'Transport', hint: '' },
    camera_networks: {
      label: 'Permitted camera networks',
      hint: 'IP addresses or networks, one per line, e.g. 192.168.10.0/24. If empty: any.',
    },
    camera_answer_ms: { label: 'Camera response timeout', hint: '' },
    camera_stall_ms: { label: 'Reconnect a camera that sent nothing for', hint: '' },
    publish_bitrate: { label: 'Max. bitrate of a person’s camera', hint: '' },
    transcoders: {
      label: 'Max. cameras converted at once',
      hint: 'H.265, Motion JPEG and the like are converted by ffmpeg, if installed, while somebody watches; each takes up to half a CPU core. Sound only: eight times as many. 0 = never.',
    },
    screen_bitrate: { label: 'Max. bitrate of a shared screen', hint: '' },
    most_tiles: {
      label: 'People shown at once',
      hint: 'If there are more, the most recent speakers are shown; the others are listed and heard.',
    },
    udp_port: {
      label: 'UDP port of WebRTC',
      hint: '0: same number as the media node’s port. A change restarts the node: people reconnect automatically.',
    },
    public_url: {
      label: 'Public address of join links',
      hint: 'The part before /jroom/ and /j/, e.g. https://rooms.example.org. If empty: the address of the media API.',
    },
    open_rooms: {
      label: 'Anyone who knows the number of a room can join it',
      hint: 'Without a join link; only a name is asked for. Each room can override this; nobody can join a locked or closed room.',
    },
    link_life_ms: { label: 'Links expire in', hint: 'Unless specified when the link is created.' },
  },
  compatibility: {
    older_clients: {
      label: 'Answer older clients',
      hint: 'They work unmodified, except for joining a room. Others see only added fields and paths.',
    },
    get_access_token: {
      label: 'Let them exchange a secret key in the URL for a token (getAccessToken)',
      hint: 'Works only while older clients are answered.',
    },
  },
  events: {
    days: { label: 'Days kept', hint: '' },
    megabytes: { label: 'Megabytes kept', hint: '200 MB hold about half a million events.' },
  },
  backups: {
    count: { label: 'Backups kept', hint: '' },
    days: { label: 'Days kept', hint: '0 = unlimited.' },
  },
  pictures: {
    every_minutes: { label: 'Interval (minutes)', hint: '0 = off. Cameras on embedded nodes only.' },
    per_camera: { label: 'Pictures per camera', hint: 'The oldest are deleted.' },
    megabytes: {
      label: 'Disk space (MB)',
      hint: 'Of all cameras together; the oldest are deleted. A picture takes 50 to 300 kB.',
    },
    days: { label: 'Days kept', hint: '' },
  },
  recording: {
    rooms: { label: 'Rooms', hint: '' },
    cameras: { label: 'Cameras', hint: '' },
    retention: { label: 'Retention', hint: '' },
    gigabytes: { label: 'Gigabytes for all recordings', hint: '0: no limit but free space.' },
    free_gigabytes: {
      label: 'Gigabytes that stay free',
      hint: 'Recording stops before the disk is fuller than this; the larger of the two counts.',
    },
    free_percent: { label: 'Percent of the disk that stays free', hint: '' },
    viewers: { label: 'Recordings that viewers may see', hint: 'Operators and admins see all recordings.' },
    hosts: {
      label: 'Hosts may record their room',
      hint: 'A button in the room; everybody sees who started it in the event log.',
    },
    announce: {
      label: 'Say aloud once that a room is recorded',
      hint: 'The notice on the screen is shown in any case.',
    },
  },
  object_storage: {
    enabled: {
      label: 'Upload finished segments',
      hint: 'Off: what was uploaded can still be played, and is deleted with its retention.',
    },
    endpoint: { label: 'Address', hint: 'Without the bucket, e.g. https://s3.eu-central-1.amazonaws.com.' },
    region: { label: 'Region', hint: 'Many services take any.' },
    bucket: { label: 'Bucket', hint: 'It must exist.' },
    prefix: { label: 'Prefix', hint: 'Put before the name of each object, e.g. roomdesk/. If empty: none.' },
    access_key_id: { label: 'Key id', hint: '' },
    secret_access_key: { label: 'Secret key', hint: 'Stored sealed, and never shown.' },
    path_style: { label: 'Bucket in the path', hint: 'Off: the bucket is part of the host name.' },
    ca_file: {
      label: 'Certificate authorities',
      hint: 'PEM file on the machine of Roomdesk, for a certificate of your own authority. If empty: only well-known authorities.',
    },
    networks: {
      label: 'Permitted networks',
      hint: 'One IP address or network per line, e.g. 192.0.2.0/24. If empty: all, except this machine, link-local addresses and metadata services.',
    },
    keep_local_hours: {
      label: 'Hours on the local disk as well',
      hint: 'An uploaded segment leaves the disk after this time, or earlier if the disk needs room.',
    },
  },
  trash: {
    days: { label: 'Days kept', hint: '0 = off: what is deleted cannot be restored. Applies to later deletions.' },
  },
  live: {
    embed_origins: {
      label: 'Pages that may embed the player',
      hint: 'Origins, one per line, e.g. https://intranet.example.org. If empty: only this site.',
    },
    push_networks: {
      label: 'Permitted RTMP networks',
      hint: 'IP addresses or networks, one per line, e.g. 192.0.2.0/24. If empty: any, except this machine, link-local addresses and metadata services.',
    },
    push_ca_file: {
      label: 'Certificate authorities for RTMP',
      hint: 'PEM file on the machine of Roomdesk, for rtmps:// with a certificate of your own authority. If empty: only well-known authorities.',
    },
  },
  console: {
    language: { label: 'Language', hint: '' },
    theme: { label: 'Theme', hint: '' },
    metrics_token: {
      label: 'Require an access token',
      hint: 'Otherwise anyone who can reach the console port can read them.',
    },
    thumbnails: {
      label: 'Small pictures in lists',
      hint: 'Of joined cameras, refreshed every minute. Kept only in the browser that shows the list.',
    },
    viewers_watch: {
      label: 'Viewers may watch meetings',
      hint: 'People do not see that they are being watched. Off: operators and admins only. Viewers can always watch cameras.',
    },
    activity_entries: { label: 'Requests kept', hint: '5,000 take about 5 MB. The oldest are dropped first.' },
  },
} as const satisfies SettingTexts
