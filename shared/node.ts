import { z } from 'zod'
import { limits } from './limits.ts'

/** `host:port` without a scheme, as get_mcu answers it (contract, section 3); IPv6 hosts in brackets. */
export const nodeAddrSchema = z
  .string()
  .max(300)
  .regex(/^(\[[0-9A-Fa-f:.]+\]|[^\s:/[\]]+):\d{1,5}$/, 'must be host:port, without a scheme')

/** One address of a node, with the tag that a client's ip_tag asks for. */
export const nodeAddressSchema = z.strictObject({ tag: z.string().max(64).default(''), addr: nodeAddrSchema })

/** What drives a node: `simulated` is a lab node that carries no media. */
export const nodeKinds = ['embedded', 'simulated', 'janus'] as const
export type NodeKind = (typeof nodeKinds)[number]

/** An MCU node as the operator configures it. Limits: 0 is none. */
export const nodeConfigSchema = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(limits.nodeName)
    .regex(
      /^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u,
      'must start with a letter or digit and hold letters, digits, spaces, . _ - only',
    ),
  kind: z.enum(nodeKinds),
  enabled: z.boolean().default(true),
  /**
   * Where a further embedded node listens: HTTP and WebSocket by TCP, media by UDP. 0: at the node port of the settings, as one embedded node of a site may; and of the
   * other kinds.
   */
  port: z.int().min(0).max(65_535).default(0),
  addresses: z.array(nodeAddressSchema).max(limits.nodeAddresses).default([]),
  idc_code: z.string().max(64).default(''),
  /** Share of the load relative to other nodes: a node of weight 2 takes twice the users. */
  weight: z.number().min(0.01).max(100).default(1),
  max_rooms: z.int().min(0).max(1_000_000).default(0),
  max_users: z.int().min(0).max(1_000_000).default(0),
})
export type NodeConfig = z.output<typeof nodeConfigSchema>

/** Of a node: what the operator sees first. `disabled` and `draining` are the operator's wish, the others are what the polls say. */
export const nodeStates = ['online', 'offline', 'draining', 'disabled', 'connecting'] as const
export type NodeState = (typeof nodeStates)[number]
