import { isIP } from 'node:net'
import { hasControlCharacter } from '../../../../shared/control-character.ts'
import type { JanusFacts } from '../../secrets/janus-access.ts'
import { type LibconfigGroup, type LibconfigLine, libconfigText, type LibconfigValue } from './libconfig.ts'

/** One configuration file of a Janus server. */
export interface NodeFile {
  /** Without folder. */
  name: string
  text: string
}

/** Needs of a node's files, besides the driver's facts about it. */
export interface NodeFilesOptions {
  node: JanusFacts
  /** Address for the node's events; left out: none, and it is polled; `unknown`: not known yet. */
  events?: EventTarget | 'unknown' | undefined
  /** Addresses that the controller calls from: the Admin API answers no others. Empty: it answers everybody. */
  controllers: readonly string[]
  /** The IP address that the Admin API listens at; empty: every address of the machine. */
  adminAddress: string
  /** UDP ports of people's and cameras' media, and those at which the streams of cameras arrive; both ends included. */
  ports?: { media: PortRange; cameras: PortRange } | undefined
}

/** As the event handler of Janus names it. */
export interface EventTarget {
  /** URL of a WebSocket. */
  backend: string
  subprotocol: string
}

/** First and last. */
type PortRange = readonly [first: number, last: number]

/** Below those that systems give to outgoing connections (Linux: 32768 and up). */
const defaultPorts = { media: [20_000, 28_999], cameras: [29_000, 32_767] } as const

/** Shared libraries of Janus 1.1 and newer that a node of ours does not need: each is one way in less. Names that a build does not have do no harm. */
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

/** Silence after which a session ends, and time that it waits for a controller to come back; in seconds. */
const sessionSeconds = 60

const certificateFolder = '/etc/janus'

/** The files that make a Janus server (1.1 and newer) a safe node of this site. They hold its secrets. */
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
      'These files go into the configuration folder of Janus (Debian: /etc/janus), readable by its user alone: they hold secrets. Then restart Janus.',
      'A secret that the operator left out was made by Roomdesk from the key that is kept with the node in the data folder, sealed. The controller knows it.',
      'The same node has the same files each time, until its addresses, its secrets or the event port change.',
    ),
    file('janus.transport.http.jcfg', http(options)),
    file('janus.transport.websockets.jcfg', webSockets(options)),
    file('janus.plugin.videoroom.jcfg', videoRoom(options)),
    file('janus.plugin.streaming.jcfg', streaming(options)),
    file('janus.eventhandler.wsevh.jcfg', eventHandler(options)),
  ]
}

/** The files one after another, each behind its name as a comment. */
export function printedFiles(files: readonly NodeFile[]): string {
  return files.map(({ name, text }) => `# ${name}\n${text}`).join('\n')
}

function core({ node, ports = defaultPorts, events }: NodeFilesOptions): LibconfigGroup[] {
  const { api_secret, admin_secret, token_secret } = node.secrets
  const disabled = Object.entries(unused).map(([name, libraries]) =>
    group(name, [
      ...(name === 'events' ? of('broadcast', typeof events === 'object') : []),
      // Figures of every stream, each second, that nobody reads.
      ...(name === 'events' ? of('stats_period', 0) : []),
      ...of('disable', libraries.map((library) => `libjanus_${library}.so`).join(',')),
    ]),
  )
  return [
    group('general', [
      ...of('server_name', node.name),
      ...of('debug_level', 3, 'Warnings and errors. More would put what people show to be let in into the log.'),
      ...of('debug_timestamps', true),
      ...of('debug_colors', false),
      ...of('api_secret', api_secret, 'Requests of the controller show this one; people never have it.'),
      ...of('token_auth', true, 'People show a token that the controller signed, good for a while and for one plugin.'),
      ...of('token_auth_secret', token_secret),
      ...of('admin_secret', admin_secret),
      ...of('session_timeout', sessionSeconds),
      ...of('reclaim_session_timeout', sessionSeconds, 'Cameras stay in their rooms while the controller restarts.'),
      ...of('hide_dependencies', true),
      ...of('protected_folders', ['/'], 'No recording is written anywhere.'),
    ]),
    group(
      'media',
      of(
        'rtp_port_range',
        rangeText(ports.media),
        'UDP, open to the people: their media, and that of the cameras they watch.',
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
          ...(adminAddress === '' ? [] : of(`${prefix}ip`, adminAddress, 'An address of the management network.')),
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
      ...of('http', false, 'People and controller come by WebSocket.'),
      ...of('https', false),
    ]),
    group('admin', [...of('admin_http', url !== null && !secure), ...of('admin_https', secure), ...listener]),
    // Without it pages of any site may read the answers.
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
      ...of('pingpong_trigger', 2, 'A controller or a person that is gone without a word is noticed within seconds.'),
      ...of('pingpong_timeout', 5),
    ]),
    group('admin', [...of('admin_ws', false), ...of('admin_wss', false)]),
    ...(secure ? [certificate()] : []),
  ]
}

function videoRoom({ node }: NodeFilesOptions): LibconfigGroup[] {
  return [
    group('general', [
      ...of('admin_key', node.secrets.admin_key, 'Without it anybody may create rooms.'),
      ...of('lock_rtp_forward', true, 'Without it whoever knows the secret of a room may send its media anywhere.'),
      ...of('string_ids', true),
    ]),
  ]
}

function streaming({ node, ports = defaultPorts }: NodeFilesOptions): LibconfigGroup[] {
  return [
    group('general', [
      ...of('admin_key', node.secrets.admin_key, 'Without it anybody may have this server call any address.'),
      ...of('rtp_port_range', rangeText(ports.cameras), 'UDP, open to the cameras.'),
      ...of('string_ids', true),
    ]),
  ]
}

const closedPort =
  'The event port of the controller is closed (--event-port): the node is asked every few seconds instead.'
const unknownPort =
  'The controller takes any free event port when it starts (--event-port 0): give it one of your own and make this file again. Until then the node is asked every few seconds instead.'
/** Janus 1.1 checks the certificate and its host, and has no setting for that: it trusts what OpenSSL trusts on its machine. */
const trust =
  ' This machine has to trust its certificate, and that has to name the host here. One that the site made itself is at the console under /#/certificate, and goes to /usr/local/share/ca-certificates (Debian; then update-ca-certificates).'

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
      'Your certificate and its key. Where a proxy has them, let Janus speak plainly behind it, on an address that only the proxy reaches.',
    ),
    ...of('cert_pem', `${certificateFolder}/certificate.pem`),
    ...of('cert_key', `${certificateFolder}/certificate.key`),
  ])
}

function group(name: string, lines: readonly LibconfigLine[]): LibconfigGroup {
  return { name, lines }
}

/** A setting, with why it is so. */
function of(name: string, value: LibconfigValue, why = ''): LibconfigLine[] {
  return [...(why === '' ? [] : note(why)), { name, value }]
}

function note(comment: string): LibconfigLine[] {
  return [{ comment }]
}

const rangeText = ([first, last]: PortRange): string => `${first}-${last}`

/** The port of a URL, also where it is the usual one of its scheme. */
function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' || url.protocol === 'wss:' ? 443 : 80
}

/** Path of a URL as Janus compares it: percent-decoded. One that does not decode, or holds a control character then, stays as it is. */
function decodedPath(path: string): string {
  try {
    const decoded = decodeURIComponent(path)
    return hasControlCharacter(decoded) ? path : decoded
  } catch {
    return path
  }
}

/** Its host, an IPv6 address without brackets. */
function bare(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

function isLoopback(url: URL): boolean {
  const host = bare(url)
  return isIP(host) !== 0 && (host === '::1' || host.startsWith('127.'))
}
