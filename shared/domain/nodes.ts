import { z } from 'zod'
import { nodeConfigSchema, nodeSecretNames, nodeStates } from '../node.ts'
import { recordVersion } from './record-version.ts'
import { moment } from './outcome.ts'

/** Resources that a node's process has used since it started. */
export const nodeLoad = z.strictObject({
  /** Age of the process. */
  uptime_ms: z.number(),
  /** CPU time of its threads, without child processes like ffmpeg. */
  cpu_ms: z.number(),
  /** Resident memory in bytes. */
  memory: z.int(),
  /** Bytes of media received from cameras and people, and sent to people. */
  bytes_in: z.number(),
  bytes_out: z.number(),
  /** Media dropped because a queue of the process was full, by queue: packets for viewers, frames for ffmpeg. */
  dropped: z.strictObject({ viewers: z.int(), conversion: z.int() }),
})
export type NodeLoad = z.output<typeof nodeLoad>

/**
 * Kinds of drift between a node and the store: a room or camera of this site is missing, or an unknown one exists. Each
 * is repaired at once.
 */
export const driftKinds = ['roomMissing', 'roomUnknown', 'cameraMissing', 'cameraUnknown'] as const
export type DriftKind = (typeof driftKinds)[number]

/** Drift repaired on a node since the controller started. */
const nodeDrift = z.strictObject({
  counts: z.record(z.enum(driftKinds), z.int()),
  last: z
    .strictObject({
      at: moment,
      kind: z.enum(driftKinds),
      count: z.int(),
      /** Example: the first room_id or userId; empty if it does not belong to this site. */
      example: z.string(),
    })
    .nullable(),
})
export type NodeDriftView = z.output<typeof nodeDrift>
export const nodeView = z.strictObject({
  config: nodeConfigSchema,
  /** Names of its stored secrets, without their values. */
  secrets: z.array(z.enum(nodeSecretNames)),
  state: z.enum(nodeStates),
  draining: z.boolean(),
  rooms: z.int(),
  users: z.int(),
  devices: z.int(),
  pulls: z.int(),
  /** While draining: remaining rooms, with users in them, or with devices that no other node can take. */
  rooms_left: z.int(),
  /** While draining: its start, the number of rooms at the start (0: unknown), and the remaining users; null otherwise. */
  drain: z.strictObject({ since: moment, rooms: z.int(), people_left: z.int() }).nullable(),
  /** Message of the last failed poll while it is not online; empty otherwise. */
  last_error: z.string(),
  /** Start of the state. */
  since: moment,
  /** Facts reported by a Janus program; null for other nodes, and before its first response. */
  program: z
    .strictObject({
      /** E.g. `1.1.2`. */
      version: z.string(),
      /** Without the package name, e.g. `videoroom`. */
      plugins: z.array(z.string()),
      /** Whether it sends its events; otherwise it is polled. */
      events: z.boolean(),
      /** Time since which this applies. */
      events_since: moment,
    })
    .nullable(),
  /** Number of recent losses: until then new rooms prefer other nodes; null: no restriction. */
  unsteady: z.strictObject({ until: moment, losses: z.int() }).nullable(),
  drift: nodeDrift,
  version: recordVersion,
})
export type NodeView = z.output<typeof nodeView>
