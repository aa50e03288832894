import { keepHiddenSecrets, type Settings, type SettingsPatch } from '../settings.ts'

/**
 * Callers who may change a setting, besides a person who has just entered the password.
 * `open`: also a signed-in admin and a token with `site:write`. `person`: nobody else.
 */
type SettingAccess = 'open' | 'person'

/** Access to each setting. A list or an object within a part counts as one setting. */
type AccessOf<Part> = Part extends readonly unknown[] ? SettingAccess : { readonly [F in keyof Part]-?: SettingAccess }

/**
 * Access to every setting. A new setting without an entry here does not compile. `open` is for settings that lead no people, media or data elsewhere, grant no access, show nothing more
 * to anybody, delete nothing earlier, open no port and name no file.
 */
const settingsAccess: { readonly [P in keyof Settings]: AccessOf<Settings[P]> } = {
  listeners: {
    host: 'person',
    link_address: 'person',
    media_port: 'person',
    device_port: 'person',
    node_port: 'person',
    console_port: 'person',
    serve_console: 'person',
    event_port: 'person',
  },
  tls: {
    mode: 'person',
    cert_file: 'person',
    key_file: 'person',
  },
  access: {
    digest_forms: 'person',
    token_idle_ms: 'person',
    token_life_ms: 'person',
    failures_per_minute: 'person',
  },
  cors_origins: 'person',
  room_defaults: {
    attendee_max: 'open',
    max_video: 'open',
    max_audio: 'open',
  },
  deadlines: {
    store_ms: 'open',
    node_ms: 'open',
    device_ms: 'open',
    health_ms: 'open',
    health_interval_ms: 'open',
    shutdown_ms: 'open',
  },
  devices: {
    reconnect_first_ms: 'open',
    reconnect_longest_ms: 'open',
    reconnect_steady_ms: 'open',
  },
  media: {
    // These three lead the media of people.
    ice_servers: 'person',
    advertised: 'person',
    public_url: 'person',
    // A removed user could return at once.
    ban_ms: 'person',
    resume_ms: 'open',
    trust_any_certificate: 'person',
    camera_transport: 'open',
    camera_networks: 'person',
    camera_answer_ms: 'open',
    camera_stall_ms: 'open',
    publish_bitrate: 'open',
    transcoders: 'open',
    screen_bitrate: 'open',
    most_tiles: 'open',
    udp_port: 'person',
    open_rooms: 'person',
    link_life_ms: 'person',
  },
  compatibility: {
    older_clients: 'person',
    get_access_token: 'person',
  },
  events: {
    // Less of these deletes records.
    days: 'person',
    megabytes: 'person',
  },
  backups: {
    count: 'person',
    days: 'person',
  },
  pictures: {
    every_minutes: 'person',
    per_camera: 'person',
    megabytes: 'person',
    days: 'person',
  },
  recording: {
    // Rules decide about the privacy of people and about evidence.
    rooms: 'person',
    cameras: 'person',
    retention: 'person',
    gigabytes: 'person',
    free_gigabytes: 'person',
    free_percent: 'person',
    viewers: 'person',
    hosts: 'person',
    announce: 'person',
  },
  object_storage: {
    enabled: 'person',
    endpoint: 'person',
    region: 'person',
    bucket: 'person',
    prefix: 'person',
    access_key_id: 'person',
    secret_access_key: 'person',
    path_style: 'person',
    ca_file: 'person',
    networks: 'person',
    keep_local_hours: 'person',
  },
  trash: {
    days: 'person',
  },
  live: {
    embed_origins: 'person',
    push_networks: 'person',
    push_ca_file: 'person',
  },
  console: {
    language: 'open',
    theme: 'open',
    welcome_done: 'open',
    first_run: 'open',
    key_sign_in: 'person',
    metrics_token: 'person',
    thumbnails: 'open',
    viewers_watch: 'person',
    // Fewer entries delete the journal of requests.
    activity_entries: 'person',
  },
}

/** Tells whether a patch changes a setting that requires a person. An unchanged value, or a hidden secret that is sent back, is no change. */
export function needsPerson(given: SettingsPatch, settings: Settings): boolean {
  const patch = keepHiddenSecrets(given, settings)
  return Object.entries(patch).some(([name, part]) => {
    const key = name as keyof Settings
    const access = settingsAccess[key]
    if (part === undefined) return false
    if (Array.isArray(part)) return access !== 'open' && differs(part, settings[key])
    const before = new Map<string, unknown>(Object.entries(settings[key]))
    const own = new Map<string, unknown>(Object.entries(access))
    return Object.entries(part).some(
      ([field, value]) => own.get(field) !== 'open' && value !== undefined && differs(value, before.get(field)),
    )
  })
}

function differs(value: unknown, before: unknown): boolean {
  return JSON.stringify(value) !== JSON.stringify(before)
}
