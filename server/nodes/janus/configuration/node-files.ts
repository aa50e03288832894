import { isIP } from 'node:net'
import { hasControlCharacter } from '../../../../shared/control-character.ts'
import type { JanusFacts } from '../../secrets/janus-access.ts'
import { type LibconfigGroup, type LibconfigLine, libconfigText, type LibconfigValue } from './libconfig.ts'

export interface NodeFile {
  /** File name without a folder. */
  name: string
  text: string
}

/** Values for a node's files. */
export interface NodeFilesOptions {
  node: JanusFacts
  /** Target of the node's events. Left out: the node is polled. `unknown`: the target is not known yet. */
  events?: EventTarget | 'unknown' | undefined
  /** Addresses of the controllers. The Admin API accepts no other addresses; empty: it accepts any address. */
  controllers: readonly string[]
  /** IP address on which the Admin API listens; empty: all addresses of the machine. */
  adminAddress: string
  /** Inclusive ranges of UDP ports: for the media of people and cameras, and for receiving the streams of cameras. */
  ports?: { media: PortRange; cameras: PortRange } | undefined
}

/** Settings of Janus's event handler. */
export interface EventTarget {
  /** URL of a WebSocket. */
  backend: string
  subprotocol: string
}

type PortRange = readonly [first: number, last: number]

/** Default port ranges, below the range that systems use for outgoing connections (Linux: 32768 and up). */
const defaultPorts = { media: [20_000, 28_999], cameras: [29_000, 32_767] } as const

/**
 * Shared libraries of Janus 1.1 and newer that a node does not need. They are disabled to reduce the attack surface.
 * Names of libraries that a build lacks have no effect.
 */
const unused = {
  plugins: [
    'audiobridge',
    'duktape',
    'echotest',
    'lua',
    'nosip',
    'recordplay',
    'sip',
    'textroom',
    'videocall',
    'voicemail',
  ],
  transports: ['mqtt', 'nanomsg', 'pfunix', 'rabbitmq'],
  loggers: ['jsonlog'],
  events: ['gelfevh', 'mqttevh', 'nanomsgevh', 'rabbitmqevh', 'sampleevh'],
} as const

/** Time without messages after which a session ends, and time in which it can be claimed; in seconds. */
const sessionSeconds = 60

const certificateFolder = '/etc/janus'

/**
 * Returns the files that configure a Janus server (1.1 and newer) securely as a node of this site. They contain its
 * secrets.
 */
export function nodeFiles(options: NodeFilesOptions): NodeFile[] {
  const { node } = options
  const file = (name: string, groups: readonly LibconfigGroup[], ...notes: string[]): NodeFile => ({
    name,
    text: libconfigText([`Written by Roomdesk for the node ${node.name}.`, ...notes], groups),
  })
  return [
    file(
      'janus.jcfg',
      core(options),
      'Copy these files into the configuration folder of Janus (Debian: /etc/janus), readable only by its user because they contain secrets. Then restart Janus.',
      'Roomdesk derived the secrets that were left empty from the key of the node, which is sealed in the data folder. The controller uses the same ones.',
      'The files of a node stay the same until its addresses, its secrets or the event port change.',
    ),
    file('janus.transport.http.jcfg', http(options)),
    file('janus.transport.websockets.jcfg', webSockets(options)),
    file('janus.plugin.videoroom.jcfg', videoRoom(options)),
    file('janus.plugin.streaming.jcfg', streaming(options)),
    file('janus.eventhandler.wsevh.jcfg', eventHandler(options)),
  ]
}

/** Returns the files as one text, each preceded by its name as a comment. */
export function printedFiles(files: readonly NodeFile[]): string {
  return files.map(({ name, text }) => `# ${name}\n${text}`).join('\n')
}

function core({ node, ports = defaultPorts, events }: NodeFilesOptions): LibconfigGroup[] {
  const { api_secret, admin_secret, token_secret } = node.secrets
  const disabled = Object.entries(unused).map(([name, libraries]) =>
    group(name, [
      ...(name === 'events' ? of('broadcast', typeof events === 'object') : []),
      // Disables statistics of each stream every second, which are not used.
      ...(name === 'events' ? of('stats_period', 0) : []),
      ...of('disable', libraries.map((library) => `libjanus_${library}.so`).join(',')),
    ]),
  )
  return [
    group('general', [
      ...of('server_name', node.name),
      ...of('debug_level', 3, 'Warnings and errors. Higher levels would log the tokens of participants.'),
      ...of('debug_timestamps', true),
      ...of('debug_colors', false),
      ...of('api_secret', api_secret, 'Sent with each request of the controller; never given to participants.'),
      ...of(
        'token_auth',
        true,
        'Participants send a token signed by the controller. It expires, and is valid for one plugin.',
      ),
      ...of('token_auth_secret', token_secret),
      ...of('admin_secret', admin_secret),
      ...of('session_timeout', sessionSeconds),
      ...of('reclaim_session_timeout', sessionSeconds, 'Cameras stay in their rooms while the controller restarts.'),
      ...of('hide_dependencies', true),
      ...of('protected_folders', ['/'], 'Janus writes no recordings.'),
    ]),
    group(
      'media',
      of(
        'rtp_port_range',
        rangeText(ports.media),
        'UDP, open to participants: their media, and the media of the cameras that they watch.',
      ),
    ),
    group('nat', [
      ...of('full_trickle', true),
      ...note('Behind a NAT that forwards these ports: nat_1_1_mapping = "the public address"'),
    ]),
    ...disabled,
  ]
}

function http({ node, controllers, adminAddress }: NodeFilesOptions): LibconfigGroup[] {
  const url = URL.parse(node.adminUrl)
  const secure = url?.protocol === 'https:'
  const prefix = secure ? 'admin_secure_' : 'admin_'
  const path = decodedPath(url?.pathname.replace(/\/+$/, '') ?? '')
  const listener =
    url === null
      ? []
      : [
          ...of('admin_base_path', path === '' ? '/' : path),
          ...of(`${prefix}port`, portOf(url)),
          ...(adminAddress === '' ? [] : of(`${prefix}ip`, adminAddress, 'Address in the management network.')),
          ...(controllers.length === 0
            ? []
            : of(
                'admin_acl',
                controllers.join(','),
                "Who may call: the controller. Each is compared with the beginning of the caller's address.",
              )),
        ]
  return [
    group('general', [
      ...of('json', 'compact'),
      ...of('http', false, 'Participants and controller connect by WebSocket.'),
      ...of('https', false),
    ]),
    group('admin', [...of('admin_http', url !== null && !secure), ...of('admin_https', secure), ...listener]),
    // Without this setting, pages of any origin may read the answers.
    ...(url === null ? [] : [group('cors', of('allow_origin', url.origin))]),
    ...(secure ? [certificate()] : []),
  ]
}

function webSockets({ node }: NodeFilesOptions): LibconfigGroup[] {
  const url = new URL(node.wsUrl)
  const secure = url.protocol === 'wss:'
  const scheme = secure ? 'wss' : 'ws'
  return [
    group('general', [
      ...of('json', 'compact'),
      ...of('ws', !secure),
      ...of('wss', secure),
      ...of(`${scheme}_port`, portOf(url)),
      ...(isLoopback(url) ? of(`${scheme}_ip`, bare(url)) : []),
      ...of('pingpong_trigger', 2, 'Detects a lost connection within seconds.'),
      ...of('pingpong_timeout', 5),
    ]),
    group('admin', [...of('admin_ws', false), ...of('admin_wss', false)]),
    ...(secure ? [certificate()] : []),
  ]
}

function videoRoom({ node }: NodeFilesOptions): LibconfigGroup[] {
  return [
    group('general', [
      ...of('admin_key', node.secrets.admin_key, 'Without it, anyone can create rooms.'),
      ...of(
        'lock_rtp_forward',
        true,
        'Without it, anyone with the secret of a room can forward its media to any address.',
      ),
      ...of('string_ids', true),
    ]),
  ]
}

function streaming({ node, ports = defaultPorts }: NodeFilesOptions): LibconfigGroup[] {
  return [
    group('general', [
      ...of('admin_key', node.secrets.admin_key, 'Without it, anyone can make this server connect to any address.'),
      ...of('rtp_port_range', rangeText(ports.cameras), 'UDP, open to the cameras.'),
      ...of('string_ids', true),
    ]),
  ]
}

const closedPort =
  'The event port of the controller is closed (--event-port): the controller polls the node every few seconds instead.'
const unknownPort =
  'The controller chooses a free event port at each start (--event-port 0): set a fixed port and create this file again. Until then, the controller polls the node every few seconds.'
/**
 * Note on the certificate of the event port. Janus 1.1 always verifies the certificate and its host name. It trusts the
 * certificates that OpenSSL trusts on its machine.
 */
const trust =
  ' This machine must trust its certificate, and the certificate must name this host. If the site created the certificate, download it from the console under /#/certificate and copy it to /usr/local/share/ca-certificates (Debian; then run update-ca-certificates).'

function eventHandler({ events }: NodeFilesOptions): LibconfigGroup[] {
  if (typeof events !== 'object')
    return [group('general', [...note(events === 'unknown' ? unknownPort : closedPort), ...of('enabled', false)])]
  return [
    group('general', [
      ...of('enabled', true),
      ...of('events', 'sessions,handles,media,plugins,transports,core'),
      ...of('grouping', true),
      ...of('json', 'compact'),
      ...of(
        'backend',
        events.backend,
        `The event port of the controller.${URL.parse(events.backend)?.protocol === 'wss:' ? trust : ''}`,
      ),
      ...of('subprotocol', events.subprotocol),
    ]),
  ]
}

function certificate(): LibconfigGroup {
  return group('certificates', [
    ...note(
      'Your certificate and its key. If a proxy terminates TLS, Janus can listen without TLS on an address that only the proxy can reach.',
    ),
    ...of('cert_pem', `${certificateFolder}/certificate.pem`),
    ...of('cert_key', `${certificateFolder}/certificate.key`),
  ])
}

function group(name: string, lines: readonly LibconfigLine[]): LibconfigGroup {
  return { name, lines }
}

/** Returns a setting, preceded by the reason for its value. */
function of(name: string, value: LibconfigValue, why = ''): LibconfigLine[] {
  return [...(why === '' ? [] : note(why)), { name, value }]
}

function note(comment: string): LibconfigLine[] {
  return [{ comment }]
}

const rangeText = ([first, last]: PortRange): string => `${first}-${last}`

/** Returns the port of a URL, or the default port of its scheme. */
function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' || url.protocol === 'wss:' ? 443 : 80
}

/**
 * Returns the path of a URL in the form that Janus compares: percent-decoded. A path that cannot be decoded, or that
 * would contain a control character, is returned unchanged.
 */
function decodedPath(path: string): string {
  try {
    const decoded = decodeURIComponent(path)
    return hasControlCharacter(decoded) ? path : decoded
  } catch {
    return path
  }
}

/** Returns the host of a URL, an IPv6 address without brackets. */
function bare(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

function isLoopback(url: URL): boolean {
  const host = bare(url)
  return isIP(host) !== 0 && (host === '::1' || host.startsWith('127.'))
}
