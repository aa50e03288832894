import { z } from 'zod'
import { nodeConfigSchema, nodeSecretNames, nodeStates } from '../node.ts'
import { recordVersion } from './record-version.ts'
import { moment } from './outcome.ts'

/** Resources that a node's process has used since its start. */
export const nodeLoad = z.strictObject({
  /** Time since the start of the process, in milliseconds. */
  uptime_ms: z.number(),
  /** CPU time of the process in milliseconds, without child processes such as ffmpeg. */
  cpu_ms: z.number(),
  /** Resident memory in bytes. */
  memory: z.int(),
  /** Bytes of media received from cameras and people; `bytes_out`: sent to people. */
  bytes_in: z.number(),
  bytes_out: z.number(),
  /** Number of items dropped because a queue of the process was full: packets for viewers, frames for ffmpeg. */
  dropped: z.strictObject({ viewers: z.int(), conversion: z.int() }),
})
export type NodeLoad = z.output<typeof nodeLoad>

/**
 * Kinds of differences between a node and the store: a room or camera of this site is missing on the node, or an
 * unknown one exists there. Each difference is repaired at once.
 */
export const driftKinds = ['roomMissing', 'roomUnknown', 'cameraMissing', 'cameraUnknown'] as const
export type DriftKind = (typeof driftKinds)[number]

/** Differences that were repaired on a node since the controller started. */
const nodeDrift = z.strictObject({
  counts: z.record(z.enum(driftKinds), z.int()),
  last: z
    .strictObject({
      at: moment,
      kind: z.enum(driftKinds),
      count: z.int(),
      /** First room_id or userId concerned; empty: it does not belong to this site. */
      example: z.string(),
    })
    .nullable(),
})
export type NodeDriftView = z.output<typeof nodeDrift>
export const nodeView = z.strictObject({
  config: nodeConfigSchema,
  /** Names of the node's stored secrets, without their values. */
  secrets: z.array(z.enum(nodeSecretNames)),
  state: z.enum(nodeStates),
  draining: z.boolean(),
  rooms: z.int(),
  users: z.int(),
  devices: z.int(),
  pulls: z.int(),
  /** Number of remaining rooms while draining: rooms with users, or with devices that no other node can take. */
  rooms_left: z.int(),
  /**
   * Progress of draining: its start, the number of rooms at the start (0: unknown), and the remaining users; null: not
   * draining.
   */
  drain: z.strictObject({ since: moment, rooms: z.int(), people_left: z.int() }).nullable(),
  /** Message of the last failed poll while the node is not online; empty: none. */
  last_error: z.string(),
  /** Time at which the node entered its state. */
  since: moment,
  /** Facts reported by a Janus server; null: another kind of node, or no response yet. */
  program: z
    .strictObject({
      /** Version of Janus, e.g. `1.1.2`. */
      version: z.string(),
      /** Names of the plugins without the package name, e.g. `videoroom`. */
      plugins: z.array(z.string()),
      /** Whether the server sends its events; if not, it is polled. */
      events: z.boolean(),
      /** Time at which `events` got its current value. */
      events_since: moment,
    })
    .nullable(),
  /** Recent losses of the node; new rooms prefer other nodes until `until`. null: no restriction. */
  unsteady: z.strictObject({ until: moment, losses: z.int() }).nullable(),
  drift: nodeDrift,
  version: recordVersion,
})
export type NodeView = z.output<typeof nodeView>
