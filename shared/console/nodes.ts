import { z } from 'zod'
import { limits } from '../limits.ts'
import {
  nodeChangesSchema,
  nodeConfigSchema,
  nodeInputSchema,
  nodeSecretNames,
  nodeStates,
  nodeTargets,
  type NodeConfig,
} from '../node.ts'
import { nodeFinding } from './node-findings.ts'
import { recordVersion, seenVersion } from './edit.ts'
import { act, change, lasting, noEdit, read } from './declare.ts'
import { moment, nothing } from './procedure.ts'
import { type InputNeeds, admin, person, viewer, type SiteBefore } from './procedure-access.ts'
import { changes, subject } from './procedure-events.ts'
import { deleted } from './trash.ts'

/** Kinds of drift between a node and the store: a room or camera of ours is missing, or an unknown one exists. Each is repaired at once. */
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
      /** The first of them: a room_id or userId; empty if none is ours. */
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
  /** Number of users and devices. */
  users: z.int(),
  /** Number of devices among them. */
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
  /** Facts reported by a Janus program; null for other nodes, and until it has answered. */
  program: z
    .strictObject({
      /** E.g. `1.1.2`. */
      version: z.string(),
      /** Without the package name, e.g. `videoroom`. */
      plugins: z.array(z.string()),
      /** It sends its events; otherwise it is polled. */
      events: z.boolean(),
      /** Time since when this is so. */
      events_since: moment,
    })
    .nullable(),
  /** Recently lost this many times: until then new rooms prefer other nodes; null: as good as the others. */
  unsteady: z.strictObject({ until: moment, losses: z.int() }).nullable(),
  drift: nodeDrift,
  version: recordVersion,
})
export type NodeView = z.output<typeof nodeView>

/** Capacity of this machine, and the missing nodes. */
const nodeProposal = z.strictObject({
  /** Number of cores available to this program. */
  cores: z.int(),
  /** Best number of embedded nodes: one core remains for the controller. */
  most: z.int(),
  /** Number of embedded nodes of the site. */
  embedded: z.int(),
  /** Missing ones, with free ports. */
  missing: z.array(nodeConfigSchema),
  /** A further one with the next free port, if the operator wants one all the same; null: no port is free. */
  next: nodeConfigSchema.nullable(),
})
export type NodeProposal = z.output<typeof nodeProposal>

/** One finding of a node's test. */
const nodeTest = z.strictObject({
  /** It can serve rooms, even if it is unsafe. */
  ok: z.boolean(),
  message: z.string(),
  milliseconds: z.number(),
  /** Version of a Janus server, e.g. `1.1.2`; empty for other kinds. */
  version: z.string(),
  plugins: z.array(z.string()),
  /** Findings of a Janus server, the worst first. */
  findings: z.array(nodeFinding),
})
export type NodeTest = z.output<typeof nodeTest>

const key = z.strictObject({ name: z.string().min(1).max(limits.nodeName) })

/** People, media, links and secrets go to the addresses of a node. */
const needsOfNode = (given: NodeConfig, { node }: SiteBefore): InputNeeds => ({
  person: nodeTargets(given) !== nodeTargets(node(given.name)),
})

export const nodeProcedures = {
  'nodes.list': read({
    summary: 'Every MCU node with its state and load.',
    input: nothing,
    output: z.array(nodeView),
    access: viewer('nodes:read'),
  }),
  'nodes.add': lasting({
    summary: 'Add a node.',
    input: nodeInputSchema,
    output: nodeView,
    edits: noEdit('makes a node'),
    access: admin('nodes:write'),
    needs: needsOfNode,
    tokens: true,
    // `needs` decides.
    lifetime: () => 0,
    event: changes('node'),
  }),
  'nodes.proposal': read({
    summary: 'How many embedded nodes carry the most on this machine, and the next free ports.',
    input: nothing,
    output: nodeProposal,
    access: viewer('nodes:read'),
  }),
  'nodes.add_embedded': change({
    summary: 'Add so many further embedded nodes at once, with the next free ports; all of them or none.',
    input: z.strictObject({ count: z.int().min(1).max(limits.nodes) }),
    output: z.array(nodeView),
    access: admin('nodes:write'),
    event: changes('node'),
  }),
  'nodes.update': lasting({
    summary:
      'Change a node; its name and kind stay, and so does each secret that is left out. An empty secret is none. With expected_version everything that is left out stays, without it gets its default.',
    input: nodeChangesSchema.extend(seenVersion),
    output: nodeView,
    edits: ({ name }) => ({ kind: 'node', key: name }),
    whole: true,
    access: admin('nodes:write'),
    // With a version, what is left out stays.
    needs: (given, { node }) => {
      const before = node(given.name)
      const stays = given.expected_version === undefined ? {} : before
      const { addresses = [], ws_url = '', admin_url = '' } = { ...stays, ...given }
      return { person: nodeTargets({ addresses, ws_url, admin_url }) !== nodeTargets(before) }
    },
    tokens: true,
    // `needs` decides.
    lifetime: () => 0,
    event: changes('node'),
  }),
  'nodes.enable': change({
    summary: 'Rooms may be put on it.',
    input: key,
    output: nodeView,
    access: admin('nodes:write'),
    event: changes('node'),
  }),
  'nodes.disable': change({
    summary: 'Take it out of service at once; its people are told, and rooms that somebody is in move to other nodes.',
    input: key,
    output: nodeView,
    access: admin('nodes:write'),
    event: changes('node'),
  }),
  'nodes.drain': change({
    summary: 'Give it no new rooms; it keeps those with people in them until they are empty.',
    input: key,
    output: nodeView,
    access: admin('nodes:write'),
    event: changes('node'),
  }),
  'nodes.undrain': change({
    summary: 'Give it rooms again.',
    input: key,
    output: nodeView,
    access: admin('nodes:write'),
    event: changes('node'),
  }),
  'nodes.remove': change({
    summary: 'Remove it; its people are told, and rooms that somebody is in move to other nodes.',
    input: key,
    output: deleted,
    access: admin('nodes:write'),
    event: changes('node'),
  }),
  'nodes.janus_config': act({
    summary:
      'The configuration files that make a Janus server this node: safe, and right for this site. They hold its secrets.',
    input: key,
    output: z.strictObject({ files: z.array(z.strictObject({ name: z.string(), text: z.string() })) }),
    access: person('admin'),
    event: { subjects: ({ name }) => [subject.node(name)], kind: 'secret.shown' },
  }),
  'nodes.test': act({
    summary:
      'Try a connection with this configuration, without adding it. Secrets that are left out are those of the node of this name.',
    input: nodeInputSchema,
    output: nodeTest,
    access: admin('nodes:write'),
    needs: needsOfNode,
    event: {
      subjects: ({ name }) => [subject.node(name)],
      facts: ({ ws_url }) => ({ host: URL.parse(ws_url)?.host ?? '' }),
    },
  }),
}
