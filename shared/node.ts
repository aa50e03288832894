import { named } from './operation.ts'
import { rule } from './refusals/complaints.ts'
import { z } from 'zod'
import { limits } from './limits.ts'
import { optionalFields } from './optional-fields.ts'

/** Schema of `host:port` without a scheme, as in get_mcu (contract, section 3); IPv6 hosts are in brackets. */
const nodeAddrSchema = z
  .string()
  .max(300)
  .regex(/^(\[[0-9A-Fa-f:.]+\]|[^\s:/[\]]+):\d{1,5}$/, rule('hostPort'))

/** Address of a node, with a tag that clients select by ip_tag. */
const nodeAddressSchema = z.strictObject({ tag: named(z.string().max(64)).default(''), addr: nodeAddrSchema })

/** Kinds of nodes; `simulated` is a lab node without media. */
export const nodeKinds = ['embedded', 'simulated', 'janus'] as const
export type NodeKind = (typeof nodeKinds)[number]

/**
 * Secrets of a Janus server, by their names in its configuration. The operator enters them; they are never returned.
 */
export const nodeSecretNames = ['api_secret', 'admin_secret', 'admin_key', 'token_secret'] as const
export type NodeSecretName = (typeof nodeSecretNames)[number]

/** Schema of a URL of a Janus server with one of two schemes, without login and fragment; empty: none. */
const serverUrl = (first: string, second: string) =>
  z
    .string()
    .max(300)
    .refine((text) => text === '' || isServerUrl(text, [first, second]), {
      error: rule('serverUrl', { first, second }),
    })
    .default('')

function isServerUrl(text: string, schemes: readonly string[]): boolean {
  const url = URL.parse(text)
  if (url === null || text.trim() !== text || !schemes.includes(url.protocol.slice(0, -1))) return false
  return url.hostname !== '' && url.username === '' && url.password === '' && !text.includes('#')
}

/** MCU node as configured by the operator. Limits: 0 means no limit. */
export const nodeConfigSchema = z.strictObject({
  name: named(
    z
      .string()
      .min(1)
      .max(limits.nodeName)
      .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u, rule('nodeName')),
  ),
  kind: z.enum(nodeKinds),
  enabled: z.boolean().default(true),
  /**
   * Port of an additional embedded node: TCP for HTTP and WebSocket, UDP for media. 0: the node port of the settings,
   * which only one embedded node of a site may use. Always 0 for other kinds of nodes.
   */
  port: z.int().min(0).max(65_535).default(0),
  addresses: z.array(nodeAddressSchema).max(limits.nodeAddresses).default([]),
  idc_code: z.string().max(64).default(''),
  /** Weight relative to other nodes: a node of weight 2 receives twice as many users. */
  weight: z.number().min(0.01).max(100).default(1),
  max_rooms: z.int().min(0).max(1_000_000).default(0),
  max_users: z.int().min(0).max(1_000_000).default(0),
  /** WebSocket address of a Janus node, used by the controller's sessions and by users. */
  ws_url: serverUrl('ws', 'wss'),
  /** Admin API of a Janus node, including the path, e.g. `http://10.0.0.7:7088/admin`; empty: not used. */
  admin_url: serverUrl('http', 'https'),
})
export type NodeConfig = z.output<typeof nodeConfigSchema>

/**
 * Schema of a secret of a node. It has no line breaks, because it is also written to the server's configuration file.
 * undefined: unchanged; empty: none.
 */
const nodeSecret = z
  .string()
  .max(256)
  .regex(/^[^\p{Cc}]*$/u, rule('controls'))
  .optional()

const janusOnly = rule('janusOnly')
const janusUrlMissing = rule('janusUrlMissing')

const nodeSecrets = {
  api_secret: nodeSecret,
  admin_secret: nodeSecret,
  admin_key: nodeSecret,
  token_secret: nodeSecret,
}

/** Input for adding or testing a node: its configuration, and write-only secrets. */
export const nodeInputSchema = nodeConfigSchema.extend(nodeSecrets).superRefine((node, context) => {
  const issue = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message })
  if (node.kind !== 'janus') {
    for (const field of ['ws_url', 'admin_url', ...nodeSecretNames] as const)
      if ((node[field] ?? '') !== '') issue(field, janusOnly)
    return
  }
  if (node.ws_url === '') issue('ws_url', janusUrlMissing)
})
export type NodeInput = z.output<typeof nodeInputSchema>

/** Input for changing a node, without defaults. */
export const nodeChangesSchema = z.strictObject({
  ...optionalFields(nodeConfigSchema),
  ...nodeSecrets,
  name: nodeConfigSchema.shape.name,
})

/** Returns the configuration without secrets. */
export function nodeConfigOf(input: NodeInput): NodeConfig {
  const { api_secret: _, admin_secret: __, admin_key: ___, token_secret: ____, ...config } = input
  return config
}

/**
 * Returns the addresses of a node, to which people, media, links and its secrets are sent, in a comparable form. A node
 * without addresses and `undefined` give the same result.
 */
export function nodeTargets(node: Pick<NodeConfig, 'addresses' | 'ws_url' | 'admin_url'> | undefined): string {
  const { addresses = [], ws_url = '', admin_url = '' } = node ?? {}
  return JSON.stringify([addresses.map(({ tag, addr }) => [tag, addr]), ws_url, admin_url])
}

/** State of a node. `disabled` and `draining` are set by the operator; the other states result from polls. */
export const nodeStates = ['online', 'offline', 'draining', 'disabled', 'connecting'] as const
export type NodeState = (typeof nodeStates)[number]
