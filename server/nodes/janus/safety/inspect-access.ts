import type { NodeLogger } from '../../port/node-failure.ts'
import { janusCodes, isJanusError } from '../wire/janus-error.ts'
import { type JanusHandle, type JanusPlugin } from '../wire/janus-handle.ts'
import { JanusSession } from '../wire/janus-session.ts'
import { JanusSocket } from '../wire/janus-socket.ts'
import type { JanusAccess } from '../../secrets/janus-access.ts'
import { neededPlugins, readServerInfo, shortName } from '../wire/janus-info.ts'
import type { JanusFindings } from './janus-findings.ts'
import { janusUnreachableReason } from './trial-call.ts'

/** A node with the controller's session. */
export interface OpenedNode {
  socket: JanusSocket
  session: JanusSession
  /** Handle of the VideoRoom plugin, if the node has it. */
  videoRoom: JanusHandle | undefined
  streaming: JanusHandle | undefined
}

/** Facts that a node reports without authentication. */
export interface NodeFacts {
  /** Version of Janus, e.g. `1.1.2`. */
  version: string
  /** Plugin names without the package name, e.g. `videoroom`. */
  plugins: string[]
}

/**
 * Connects to a node without credentials. Returns undefined if that fails.
 * @throws the signal's reason
 */
export async function connectToJanus(
  { wsUrl, leadership }: JanusAccess,
  logger: NodeLogger,
  findings: JanusFindings,
  signal: AbortSignal,
): Promise<JanusSocket | undefined> {
  try {
    return await JanusSocket.open({ url: wsUrl, apiSecret: '', leadership, logger }, signal)
  } catch (error) {
    signal.throwIfAborted()
    const why = janusUnreachableReason(error)
    if (why === undefined) findings.add('wsNotJanus', { reason: error instanceof Error ? error.message : '' })
    else findings.add('wsUnreachable', { reason: why })
    return undefined
  }
}

/**
 * Reads the node's facts. Returns undefined if the program is not Janus.
 * @throws the errors of JanusSocket.request
 */
export async function readJanusFacts(
  socket: JanusSocket,
  findings: JanusFindings,
  signal: AbortSignal,
): Promise<NodeFacts | undefined> {
  const info = readServerInfo(await socket.request({ janus: 'info' }, signal))
  if (info === undefined) {
    findings.add('wsNotJanus', { reason: 'another answer than that of Janus' })
    return undefined
  }
  const { version, packages, plugins } = info
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < 1 || (major === 1 && minor < 1)) findings.add('versionOld', { version })
  if (info.tellsDependencies) findings.add('dependenciesShown')
  const unused = packages.filter((name) => !neededPlugins.some((plugin) => plugin === name)).map(shortName)
  if (unused.length > 0) findings.add('pluginsUnused', { plugins: unused.sort().join(', ') })
  return { version, plugins }
}

/**
 * Opens a session in the same way as the controller, with a handle of each plugin. Returns undefined if the node
 * rejects the controller.
 * @throws the errors of JanusSocket.request
 */
export async function openAsController(
  { wsUrl, secrets, leadership }: JanusAccess,
  logger: NodeLogger,
  findings: JanusFindings,
  signal: AbortSignal,
): Promise<OpenedNode | undefined> {
  const socket = await JanusSocket.open({ url: wsUrl, apiSecret: secrets.api_secret, leadership, logger }, signal)
  try {
    const session = await JanusSession.create(socket, signal)
    const [videoRoom, streaming] = await Promise.all(
      neededPlugins.map((plugin) => attach(session, plugin, findings, signal)),
    )
    return { socket, session, videoRoom, streaming }
  } catch (error) {
    socket.close()
    if (!isJanusError(error, janusCodes.unauthorized)) throw error
    findings.add('apiSecretWrong')
    return undefined
  }
}

async function attach(
  session: JanusSession,
  plugin: JanusPlugin,
  findings: JanusFindings,
  signal: AbortSignal,
): Promise<JanusHandle | undefined> {
  try {
    return await session.attach(plugin, signal)
  } catch (error) {
    if (!isJanusError(error, janusCodes.noPlugin)) throw error
    findings.add('pluginMissing', { plugin })
    return undefined
  }
}
