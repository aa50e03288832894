/** Settings of a test's Janus. */
export interface JanusConfiguration {
  wsPort: number
  httpPort: number
  adminPort: number
  /** First and last port of its media. */
  rtpPorts: readonly [number, number]
  /** Empty: no secret. */
  secrets: { api: string; admin: string; adminKey: string }
  /** Secret of signed tokens; empty: no tokens required. */
  tokenSecret: string
  /** URL that receives its events; empty: no events. */
  eventBackend: string
}

/** Makes its configuration files, by name. */
export function janusConfiguration(configuration: JanusConfiguration): Record<string, string> {
  const { wsPort, httpPort, adminPort, secrets, tokenSecret, eventBackend } = configuration
  const range = configuration.rtpPorts.join('-')
  const adminKey = secrets.adminKey === '' ? '' : `admin_key = "${secrets.adminKey}"`
  return {
    'janus.jcfg': `general: {
  debug_level = 4
  debug_colors = false
  server_name = "test"
  session_timeout = 60
  reclaim_session_timeout = 60
  ${secrets.api === '' ? '' : `api_secret = "${secrets.api}"`}
  ${secrets.admin === '' ? '' : `admin_secret = "${secrets.admin}"`}
  ${tokenSecret === '' ? '' : `token_auth = true\n  token_auth_secret = "${tokenSecret}"`}
}
media: { ipv6 = false rtp_port_range = "${range}" }
nat: { full_trickle = true }
events: { broadcast = ${eventBackend !== ''} }
plugins: {
  disable = "libjanus_audiobridge.so,libjanus_duktape.so,libjanus_echotest.so,libjanus_lua.so,libjanus_nosip.so,libjanus_recordplay.so,libjanus_sip.so,libjanus_textroom.so,libjanus_videocall.so,libjanus_voicemail.so"
}
transports: { disable = "libjanus_mqtt.so,libjanus_nanomsg.so,libjanus_pfunix.so,libjanus_rabbitmq.so" }
`,
    'janus.transport.http.jcfg': `general: { json = "compact" base_path = "/janus" http = true port = ${httpPort} ip = "127.0.0.1" https = false }
admin: { admin_base_path = "/admin" admin_http = true admin_port = ${adminPort} admin_ip = "127.0.0.1" admin_https = false }
`,
    'janus.transport.websockets.jcfg': `general: { json = "compact" ws = true ws_port = ${wsPort} ws_ip = "127.0.0.1" wss = false pingpong_trigger = 2 pingpong_timeout = 2 }
admin: { admin_ws = false }
`,
    'janus.plugin.videoroom.jcfg': `general: { string_ids = true lock_rtp_forward = true ${adminKey} }
`,
    'janus.plugin.streaming.jcfg': `general: { string_ids = true rtp_port_range = "${range}" ${adminKey} }
`,
    'janus.eventhandler.wsevh.jcfg': `general: { enabled = ${eventBackend !== ''} events = "sessions,handles,media,plugins,transports,core" grouping = true json = "compact" backend = "${eventBackend || 'ws://127.0.0.1:9/'}" subprotocol = "ev1" }
`,
  }
}
