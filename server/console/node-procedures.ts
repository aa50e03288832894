import type { RelayedRoomView } from '../../shared/console/relays.ts'
import { problemsOf, refusalOfInput } from '../../shared/domain/input-problems.ts'
import type { NodeView } from '../../shared/domain/nodes.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { hiddenSecret } from '../../shared/hidden-secret.ts'
import { type NodeConfig, nodeConfigOf, type NodeInput, nodeInputSchema } from '../../shared/node.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { Settings } from '../../shared/settings.ts'
import { tryPort } from '../edge/listen-error.ts'
import { movedPortProblem, namedPorts, portAfter, portProblem } from '../nodes/embedded/node-ports.ts'
import { freePorts, maxUsefulNodes, proposedNodes } from '../nodes/embedded/proposed-nodes.ts'
import { filesOfNode } from '../nodes/janus/configuration/files-of-node.ts'
import type { RelayedRooms } from '../nodes/janus/relay/relayed-rooms.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import { isSameServer } from '../nodes/secrets/janus-access.ts'
import { nodeSecretsAfter, secretNamesOf } from '../nodes/secrets/node-secrets.ts'
import type { StoredNode } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { Trash } from '../store/trash.ts'
import type { ProcedureHandlers, ProceduresOf } from './handlers.ts'
import { deletionBy, undoOf } from './trash-procedures.ts'

/** Lowest port that is proposed; lower ports are reserved for the system. */
const firstPort = 1_024

export interface Machine {
  /** Number of cores available to this program. */
  cores: () => number
  /** Host of the listeners. */
  host: () => string
  /** Ports of the listeners. */
  ports: () => number[]
  settings: () => Settings
  /**
   * Address to which Janus nodes send their events; empty: none. Contains a wildcard host if the listener uses all
   * addresses.
   */
  eventUrl: () => string
  /** Current node port; while its listener is closed, the port in the settings. */
  nodePort: () => number
}

/** Procedures on MCU nodes, and on the streams relayed between them. */
export function nodeHandlers(
  store: Store,
  pool: NodePool,
  machine: Machine,
  trash: Trash,
  relayedRooms: Pick<RelayedRooms, 'rooms' | 'nodesOf' | 'relays'>,
): ProcedureHandlers<ProceduresOf<'nodes' | 'relays'>> {
  const view = (name: string): NodeView => {
    const found = pool.nodes.views().find(({ config }) => config.name === name)
    if (found === undefined) throw noSuchNode(name)
    return found
  }
  const change = async (name: string, edit: (node: StoredNode) => StoredNode): Promise<NodeView> => {
    await store.transact([`nodes/${name}`], (transaction) => {
      const node = store.get('nodes', name)
      if (node === undefined) throw noSuchNode(name)
      transaction.put('nodes', name, edit(node))
    })
    return view(name)
  }
  const add = async (inputs: readonly NodeInput[]): Promise<void> => {
    await store.transact(['nodes', ...inputs.map(({ name }) => `nodes/${name}`)], (transaction) => {
      for (const input of inputs) assertNew(store, input)
      const now = Date.now()
      const secretsAfter = nodeSecretsAfter(store)
      for (const input of inputs) {
        const secrets_sealed = secretsAfter(input, undefined)
        const config = nodeConfigOf(input)
        transaction.put('nodes', config.name, { ...config, created_at: now, draining: false, secrets_sealed })
      }
    })
  }
  const propose = async (count: number): Promise<NodeConfig[]> => {
    const nodes = [...store.all('nodes').values()]
    const taken = [...machine.ports(), ...namedPorts(machine.settings(), nodes)]
    const ports = await freePorts({
      host: machine.host(),
      from: Math.max(firstPort, machine.nodePort() + 1),
      count,
      taken,
    })
    return proposedNodes(count, ports, nodes)
  }
  return {
    'nodes.list': () => pool.nodes.views(),
    'nodes.add': async (config) => {
      assertNew(store, config)
      await assertPortFree(machine.host(), config.port)
      await add([config])
      return view(config.name)
    },
    'nodes.proposal': async () => {
      const cores = machine.cores()
      const most = maxUsefulNodes(cores)
      const embedded = [...store.all('nodes').values()].filter(({ kind }) => kind === 'embedded').length
      const proposed = await propose(Math.max(1, most - embedded))
      return { cores, most, embedded, missing: most > embedded ? proposed : [], next: proposed[0] ?? null }
    },
    'nodes.add_embedded': async ({ count }) => {
      const nodes = await propose(count)
      if (nodes.length < count) throw new RefusalError(refusal('nodePortsTaken', { free: nodes.length, count }))
      await add(nodes)
      return nodes.map(({ name }) => view(name))
    },
    'nodes.update': async (given) => {
      const before = store.get('nodes', given.name)
      const config = checkedNode({ ...given, kind: given.kind ?? before?.kind })
      if (before !== undefined && portAfter(config, before) !== before.port) {
        assertPort(store, config)
        await assertPortFree(machine.host(), config.port)
      }
      return change(config.name, (node) => {
        if (node.kind !== config.kind) throw new RefusalError(refusal('nodeKindFixed'), { fields: ['kind'] })
        assertSecretsStay(config, node, store)
        const secrets_sealed = nodeSecretsAfter(store)(config, node)
        const after = { ...node, ...nodeConfigOf(config), port: portAfter(config, node), secrets_sealed }
        assertPort(store, after)
        return after
      })
    },
    'nodes.enable': ({ name }) => change(name, (node) => ({ ...node, enabled: true })),
    'nodes.disable': ({ name }) => change(name, (node) => ({ ...node, enabled: false })),
    'nodes.drain': async ({ name }) => {
      await pool.drainer.set(name, true)
      return view(name)
    },
    'nodes.undrain': async ({ name }) => {
      await pool.drainer.set(name, false)
      return view(name)
    },
    'nodes.remove': async ({ name }, origin) => {
      const deletion = deletionBy(origin)
      await store.transact([`nodes/${name}`], (transaction) => {
        const record = store.get('nodes', name)
        if (record === undefined) throw noSuchNode(name)
        transaction.delete('nodes', name)
        trash.moveToTrash(transaction, { kind: 'nodes', record }, deletion)
      })
      return { undo: undoOf(trash, deletion) }
    },
    'nodes.janus_config': async ({ name }) => {
      const node = store.get('nodes', name)
      if (node === undefined) throw noSuchNode(name)
      if (node.kind !== 'janus') throw new RefusalError(refusal('nodeNotJanus', { name }))
      return { files: await filesOfNode(node, store, machine.eventUrl()) }
    },
    'nodes.test': (given) => {
      const before = store.get('nodes', given.name)
      const config = { ...nodeConfigOf(given), port: portAfter(given, before) }
      assertPort(store, config)
      if (before !== undefined) assertSecretsStay(given, before, store)
      const secrets_sealed = nodeSecretsAfter(store)(given, before)
      return pool.testConnection({ ...config, created_at: Date.now(), draining: false, secrets_sealed })
    },
    'relays.list': ({ room_id }) =>
      [...relayedRooms.rooms]
        .filter((room) => room_id === undefined || room === room_id)
        .map((room) => relayedRoomView(relayedRooms, room)),
  }
}

/**
 * Validates the input for a node.
 * @throws RefusalError invalid
 */
function checkedNode(given: object): NodeInput {
  const parsed = nodeInputSchema.safeParse(given)
  if (parsed.success) return parsed.data
  const problems = problemsOf(parsed.error, given)
  throw new RefusalError(refusalOfInput(problems), { problems })
}

/**
 * Checks that a new node can be added.
 * @throws RefusalError conflict if the name is taken or the node cannot use its port
 */
function assertNew(store: Store, config: NodeConfig): void {
  if (store.get('nodes', config.name) !== undefined)
    throw new RefusalError(refusal('nodeExists', { name: config.name }), { fields: ['name'] })
  assertPort(store, config)
}

/**
 * Checks the port of a node against the other nodes.
 * @throws RefusalError conflict if the node cannot use its port
 */
function assertPort(store: Store, node: NodeConfig): void {
  const before = store.get('nodes', node.name)
  const wrong = (before && movedPortProblem(node, before)) ?? portProblem(node, store.all('nodes').values())
  if (wrong !== undefined) throw new RefusalError(wrong, { fields: ['port'] })
}

/**
 * Checks that no other program uses a port.
 * @param port 0: the node port of the settings, which is not checked
 * @throws RefusalError conflict if the port is in use
 */
async function assertPortFree(host: string, port: number): Promise<void> {
  const taken = port === 0 ? undefined : await tryPort('node', host, port)
  if (taken === undefined) return
  throw new RefusalError({ ...taken.refusal, code: 'conflict' }, { fields: ['port'] })
}

/**
 * Checks that stored secrets stay with their server.
 * @throws RefusalError invalid if a stored secret would be sent to another address
 */
function assertSecretsStay(given: NodeInput, before: StoredNode, store: Store): void {
  if (isSameServer(given, before)) return
  const missing = secretNamesOf(before, store).filter(
    (name) => given[name] === undefined || given[name] === hiddenSecret,
  )
  if (missing.length > 0) throw new RefusalError(refusal('nodeSecretsElsewhere'), { fields: missing })
}

function noSuchNode(name: string): RefusalError {
  return new RefusalError(refusal('nodeNotFound', { name }))
}

function relayedRoomView(relayedRooms: Pick<RelayedRooms, 'nodesOf' | 'relays'>, room_id: string): RelayedRoomView {
  return {
    room_id,
    nodes: [...relayedRooms.nodesOf(room_id)],
    relays: relayedRooms.relays.of(room_id).map(({ stream, from, to, isUp, since }) => ({
      stream_id: stream,
      from,
      to,
      state: isUp ? 'up' : 'connecting',
      since,
    })),
  }
}
