import { z } from 'zod'
import { limits } from '../limits.ts'
import { nodeChangesSchema, nodeConfigSchema, nodeInputSchema, nodeTargets, type NodeConfig } from '../node.ts'
import { nodeFinding } from '../domain/node-findings.ts'
import { seenVersion } from '../domain/record-version.ts'
import { act, change, lasting, noEdit, read } from './declare.ts'
import { emptyOutcome } from '../domain/outcome.ts'
import { type InputNeeds, admin, person, viewer, type SiteBefore } from './procedure-access.ts'
import { changes, subject } from './procedure-events.ts'
import { deleted } from './trash.ts'
import { nodeView } from '../domain/nodes.ts'

/** Capacity of this machine, and the embedded nodes that are missing to use it. */
const nodeProposal = z.strictObject({
  /** Number of cores available to this program. */
  cores: z.int(),
  /** Recommended number of embedded nodes: one core remains for the controller. */
  most: z.int(),
  /** Number of embedded nodes of the site. */
  embedded: z.int(),
  /** Configurations of the missing nodes, with free ports. */
  missing: z.array(nodeConfigSchema),
  /** Configuration of an additional node on the next free port; null: no port is free. */
  next: nodeConfigSchema.nullable(),
})
export type NodeProposal = z.output<typeof nodeProposal>

const nodeTest = z.strictObject({
  /** Whether the node can serve rooms, even if it is insecure. */
  ok: z.boolean(),
  message: z.string(),
  milliseconds: z.number(),
  /** Version of a Janus server, e.g. `1.1.2`; empty: another kind of node. */
  version: z.string(),
  plugins: z.array(z.string()),
  /** Findings about a Janus server, the worst first. */
  findings: z.array(nodeFinding),
})
export type NodeTest = z.output<typeof nodeTest>

const key = z.strictObject({ name: z.string().min(1).max(limits.nodeName) })

/** Requires a person if the addresses of a node change, because people, media, links and secrets are sent to them. */
const needsOfNode = (given: NodeConfig, { node }: SiteBefore): InputNeeds => ({
  person: nodeTargets(given) !== nodeTargets(node(given.name)),
})

export const nodeProcedures = {
  'nodes.list': read({
    summary: 'Every MCU node with its state and load.',
    input: emptyOutcome,
    output: z.array(nodeView),
    access: viewer('nodes:read'),
    refreshOn: ['nodes.changed'],
  }),
  'nodes.add': lasting({
    summary: 'Add a node.',
    input: nodeInputSchema,
    output: nodeView,
    edits: noEdit('makes a node'),
    access: admin('nodes:write'),
    needs: needsOfNode,
    tokens: true,
    // See `needs`.
    lifetime: () => 0,
    event: changes('node'),
  }),
  'nodes.proposal': read({
    summary: 'How many embedded nodes carry the most on this machine, and the next free ports.',
    input: emptyOutcome,
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
    // In an edit with a version, absent fields stay unchanged.
    needs: (given, { node }) => {
      const before = node(given.name)
      const stays = given.expected_version === undefined ? {} : before
      const { addresses = [], ws_url = '', admin_url = '' } = { ...stays, ...given }
      return { person: nodeTargets({ addresses, ws_url, admin_url }) !== nodeTargets(before) }
    },
    tokens: true,
    // See `needs`.
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
