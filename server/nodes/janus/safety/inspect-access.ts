import { errorCode, hasCode } from '../../../../shared/error-code.ts'
import { issueToken } from '../../../../shared/files/signed-tokens.ts'
import { DeadlineError } from '../../port/deadline.ts'
import { NodeConnectionError } from '../../port/media-node-port.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import type { JanusAccess } from '../../secrets/janus-access.ts'
import { isJanusError, janusCodes, janusErrorOf } from '../wire/janus-error.ts'
import type { JanusHandle, JanusPlugin } from '../wire/janus-handle.ts'
import { JanusSession } from '../wire/janus-session.ts'
import { JanusSocket } from '../wire/janus-socket.ts'
import { neededPlugins, readServerInfo, shortName } from '../wire/node-traits.ts'
import type { JanusFindings } from './janus-findings.ts'

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

/** Describes why a node is unreachable, in a few words. Returns undefined if a server other than Janus answers. */
export function janusUnreachableReason(error: unknown): string | undefined {
  if (error instanceof DeadlineError) return 'no answer in time'
  if (!(error instanceof NodeConnectionError)) return undefined
  const { cause } = error
  for (const [code, words] of networkCodes) if (hasCode(cause, code)) return words
  const code = errorCode(cause)
  if (tlsCode.test(code)) return `its certificate is not trusted: ${code}`
  return undefined
}

const networkCodes = [
  ['ECONNREFUSED', 'the port is closed'],
  ['ENOTFOUND', 'the name is unknown'],
  ['EAI_AGAIN', 'the name is unknown'],
  ['EHOSTUNREACH', 'there is no route to it'],
  ['ENETUNREACH', 'there is no route to it'],
  ['ETIMEDOUT', 'no answer in time'],
  ['EADDRNOTAVAIL', 'there is no route to it'],
] as const
const tlsCode = /CERT|SIGNATURE|ALTNAME|SELF_SIGNED/

/** Maximum difference between the clocks that is not reported, in seconds. */
const unnoticed = 3
/** Difference from which tokens no longer work reliably, in seconds. */
const unbearable = 60
const yearSeconds = 365 * 24 * 60 * 60

/**
 * Checks whether the node rejects clients without a token, and admits a holder of the controller's token until it
 * expires. Determines the node's clock from the expiry of further tokens.
 * @returns a token that the node admits; empty if none is required; undefined if the node admits no token
 * @param given whether the operator set the secret; false: the controller derived it
 * @param socket connection without credentials of the controller
 * @param now returns Unix seconds
 * @throws the errors of JanusSocket.request
 */
export async function inspectTokens(
  socket: JanusSocket,
  { secret, given }: { secret: string; given: boolean },
  now: () => number,
  findings: JanusFindings,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (await isLetIn(socket, undefined, signal)) {
    findings.add('tokenAuthOff')
    if (!given) findings.add('roomsUnguarded')
    return ''
  }
  const lasting = issueToken('janus-core', secret, { expiresAt: Math.floor(now()) + yearSeconds })
  if (!(await isLetIn(socket, lasting, signal))) {
    findings.add(given ? 'tokenSecretWrong' : 'tokenSecretMissing')
    return undefined
  }
  await compareClocks(socket, secret, now, findings, signal)
  return lasting
}

async function compareClocks(
  socket: JanusSocket,
  secret: string,
  now: () => number,
  findings: JanusFindings,
  signal: AbortSignal,
): Promise<void> {
  const counts = (offset: number): Promise<boolean> =>
    isLetIn(socket, issueToken('janus-core', secret, { expiresAt: Math.floor(now() + offset) }), signal)
  const [future, past] = [await counts(unnoticed), await counts(-unnoticed)]
  if (future && !past) return
  // Binary search for the earliest expiry that the node still accepts, which is the node's current time.
  let [refused, taken] = future ? [-yearSeconds, -unnoticed] : [unnoticed, yearSeconds]
  while (taken - refused > 1) {
    const middle = Math.floor((refused + taken) / 2)
    if (await counts(middle)) taken = middle
    else refused = middle
  }
  const apart = Math.abs(taken)
  const severity = apart >= unbearable ? 'error' : undefined
  findings.add(taken > 0 ? 'clockAhead' : 'clockBehind', { seconds: String(apart) }, severity)
}

/** Returns whether the node opens a session with this token. The session is ended again. */
async function isLetIn(socket: JanusSocket, token: string | undefined, signal: AbortSignal): Promise<boolean> {
  let session: number | undefined
  const refusal = await janusErrorOf(
    socket.request({ janus: 'create', token }, signal).then(({ data }) => {
      session = data?.id
    }),
  )
  if (session !== undefined)
    await janusErrorOf(socket.request({ janus: 'destroy', session_id: session, token }, signal))
  return refusal !== janusCodes.unauthorized
}
