import { z } from 'zod'
import { rule } from '../refusals/complaints.ts'
import { choice, integer, lines, optionalInteger, several, text, toggle } from './setting.ts'

/**
 * Supported algorithms and encodings of a client's digest. The tokens of the session use the same (contract,
 * section 2).
 */
export const digestForms = ['sha1-hex', 'sha1-raw', 'sha256-hex', 'sha256-raw'] as const
export type DigestForm = (typeof digestForms)[number]

const hour = 3_600_000
const day = 24 * hour
const port = { range: [0, 65_535], unit: 'port' } as const

/** Addresses of the listeners. Flags and environment variables override these settings. Port 0: any free port. */
export const listeners = {
  /** Bind address of the listeners; by default they accept connections only from this machine. */
  host: text(
    { schema: z.string().min(1).max(253), default: '127.0.0.1' },
    { card: 'listeners', order: 1, access: 'person', restarts: 'listeners' },
  ),
  /**
   * Address of this machine that links contain while the ports are open on every network. If it is empty, or is no
   * longer an address of this machine, links contain the machine's first address.
   */
  link_address: text(
    { schema: z.union([z.literal(''), z.ipv4()], rule('network')), default: '' },
    { card: 'listeners', order: 2, access: 'person', restarts: 'nothing' },
  ),
  media_port: integer(
    { ...port, default: 7080 },
    { card: 'listeners', order: 3, access: 'person', restarts: 'listeners' },
  ),
  device_port: integer(
    { ...port, default: 7081 },
    { card: 'listeners', order: 4, access: 'person', restarts: 'listeners' },
  ),
  node_port: integer(
    { ...port, default: 7082 },
    { card: 'listeners', order: 5, access: 'person', restarts: 'listeners' },
  ),
  console_port: integer(
    { ...port, default: 7083 },
    { card: 'listeners', order: 6, access: 'person', restarts: 'listeners' },
  ),
  /**
   * Whether the desktop app also serves its console to browsers, at `console_port`. A headless controller always serves
   * it.
   */
  serve_console: toggle(
    { default: false },
    { card: 'servedConsole', order: 1, access: 'person', restarts: 'listeners' },
  ),
  /** Port for events of Janus nodes; null: closed, and the nodes are polled. */
  event_port: optionalInteger(port, { card: 'listeners', order: 7, access: 'person', restarts: 'listeners' }),
}

/** Certificate of the listeners; both files are in PEM. `off`: plain HTTP. */
export const tls = {
  mode: choice(
    { choices: ['off', 'file', 'self-signed'], default: 'off' },
    { card: 'tls', order: 1, access: 'person', restarts: 'listeners' },
  ),
  cert_file: text(
    { schema: z.string().max(4096), default: '' },
    { card: 'tls', order: 2, access: 'person', restarts: 'nothing' },
  ),
  key_file: text(
    { schema: z.string().max(4096), default: '' },
    { card: 'tls', order: 3, access: 'person', restarts: 'nothing' },
  ),
}

export const access = {
  digest_forms: several({ choices: digestForms }, { card: 'access', order: 1, access: 'person', restarts: 'nothing' }),
  /** Lifetime of a token since its last use. */
  token_idle_ms: integer(
    { range: [1_000, 7 * day], unit: 'ms', default: 12 * hour },
    { card: 'access', order: 2, access: 'person', restarts: 'nothing' },
  ),
  token_life_ms: integer(
    { range: [1_000, 90 * day], unit: 'ms', default: 7 * day },
    { card: 'access', order: 3, access: 'person', restarts: 'nothing' },
  ),
  /** Maximum number of failed authentications per minute and client address; 0: no limit. */
  failures_per_minute: integer(
    { range: [0, 10_000], unit: 'count', default: 20 },
    { card: 'access', order: 4, access: 'person', restarts: 'nothing' },
  ),
}

/** Allowed CORS origins; `*` allows any. */
export const corsOrigins = lines(
  { schema: z.array(z.string().min(1).max(300)).max(100), default: ['*'] },
  { card: 'cors', order: 1, access: 'person', restarts: 'nothing' },
)

/** Support for clients of the original platform. If it is off, these clients receive the standard responses. */
export const compatibility = {
  /** Whether to serve operations, spellings and responses that only clients of the original platform use. */
  older_clients: toggle({ default: false }, { card: 'olderClients', order: 1, access: 'person', restarts: 'nothing' }),
  /** Whether a client may send its secret_key in a URL to receive an access token. Requires `older_clients`. */
  get_access_token: toggle(
    { default: false },
    { card: 'olderClients', order: 2, access: 'person', restarts: 'nothing' },
  ),
}
