import { sleep } from '../../../../shared/sleep.ts'
import { within } from '../../port/deadline.ts'
import type { NodeInspection } from '../../port/node-driver.ts'
import { describeFailure } from '../../port/node-failure.ts'
import { AdminApi, type AdminApiOptions, type JanusFields } from '../wire/admin-api.ts'
import { isJanusError, janusCodes, janusErrorOf } from '../wire/janus-error.ts'
import { JanusSession } from '../wire/janus-session.ts'
import { JanusSocket } from '../wire/janus-socket.ts'
import type { JanusAccess } from '../../secrets/janus-access.ts'
import { JanusFindings } from './janus-findings.ts'
import {
  connectToJanus,
  inspectTokens,
  janusUnreachableReason,
  type NodeFacts,
  openAsController,
  type OpenedNode,
  readJanusFacts,
} from './inspect-access.ts'
import { inspectRoom, type TrialContext } from './trial-room.ts'
import type { JanusHandle, JanusPlugin } from '../wire/janus-handle.ts'

export interface InspectionContext extends Pick<TrialContext, 'logger' | 'events'> {
  /** Returns milliseconds since the epoch. */
  clock: () => number
}

const trials: Readonly<Record<JanusPlugin, PluginTrial>> = {
  'janus.plugin.videoroom': {
    named: { request: 'exists', room: 'roomdesk-test' },
    create: { request: 'create', room: 'roomdesk-test', audiocodec: 'none' },
    invalid: 430,
    keyRefused: [429, janusCodes.roomUnauthorized],
    open: 'roomsCreatable',
  },
  'janus.plugin.streaming': {
    named: { request: 'info', id: 'roomdesk-test' },
    create: { request: 'create', type: 'none' },
    invalid: 454,
    keyRefused: [453, 457],
    open: 'camerasCreatable',
  },
}

/** Timeout of a complete inspection, in milliseconds. A working node needs a tenth of a second. */
const inspectionMs = 10_000
/** Time within which Janus detects that a connection was closed, in milliseconds. */
const noticedMs = 250

/**
 * Finds faults and unsafe settings of a Janus node by trying requests as the controller, as a stranger, and as an
 * admitted user. Removes everything that it creates. Never rejects.
 */
export async function inspectJanus(access: JanusAccess, context: InspectionContext): Promise<NodeInspection> {
  const inspection = new Inspection(access, context)
  try {
    await within({ milliseconds: inspectionMs }, (signal) => inspection.run(signal))
  } catch (error) {
    inspection.failed(error)
  }
  return inspection.result
}

class Inspection {
  readonly #access: JanusAccess
  readonly #context: InspectionContext
  readonly #findings = new JanusFindings()
  #facts: NodeFacts = { version: '', plugins: [] }

  constructor(access: JanusAccess, context: InspectionContext) {
    this.#access = access
    this.#context = context
  }

  get result(): NodeInspection {
    return { ...this.#facts, findings: this.#findings.sorted }
  }

  async run(signal: AbortSignal): Promise<void> {
    const admin = inspectAdmin(this.#access, this.#findings, signal)
    try {
      await this.#inspect(admin, signal)
    } finally {
      // The Admin API's inspection ends with the signal at the latest. Its failure is ignored here, because `#inspect`
      // has already reported a failure.
      await admin.then((api) => api?.close()).catch(() => {})
    }
  }

  /** Handles the error that ended the inspection early. */
  failed(error: unknown): void {
    this.#context.logger.info({ node: this.#access.name, err: error }, 'the test of a node was aborted')
    this.#findings.add('trialFailed', {
      reason: janusUnreachableReason(error) ?? describeFailure(error).replace(/\.$/, ''),
    })
  }

  async #inspect(admin: Promise<AdminApi | undefined>, signal: AbortSignal): Promise<void> {
    const stranger = await connectToJanus(this.#access, this.#context.logger, this.#findings, signal)
    try {
      if (stranger !== undefined) await this.#throughSocket(stranger, admin, signal)
    } finally {
      stranger?.close()
    }
    await admin
  }

  async #throughSocket(
    stranger: JanusSocket,
    admin: Promise<AdminApi | undefined>,
    signal: AbortSignal,
  ): Promise<void> {
    const facts = await readJanusFacts(stranger, this.#findings, signal)
    if (facts === undefined) return
    this.#facts = facts
    const { logger, clock, events } = this.#context
    if (events === undefined) this.#findings.add('eventsOff')
    const { secrets, given } = this.#access
    const own = { secret: secrets.token_secret, given: given.includes('token_secret') }
    const token = await inspectTokens(stranger, own, () => clock() / 1_000, this.#findings, signal)
    const node = await openAsController(this.#access, logger, this.#findings, signal)
    if (node === undefined) return
    try {
      await this.#sameServer(node, await admin, signal)
      await this.#asController(node, token, signal)
    } finally {
      node.socket.close()
    }
  }

  async #asController(node: OpenedNode, token: string | undefined, signal: AbortSignal): Promise<void> {
    const { logger, events } = this.#context
    const { admin_key } = this.#access.secrets
    const { videoRoom, streaming } = node
    if (streaming !== undefined) await inspectPlugin(streaming, admin_key, this.#findings, signal)
    const usable = videoRoom !== undefined && (await inspectPlugin(videoRoom, admin_key, this.#findings, signal))
    if (usable && token !== undefined)
      await inspectRoom(this.#access, videoRoom, token, { logger, events, findings: this.#findings, signal })
    await this.#reclaim(node, signal)
  }

  /**
   * Checks that the Admin API lists the session opened through the WebSocket, so that both belong to the same server.
   */
  async #sameServer({ session }: OpenedNode, admin: AdminApi | undefined, signal: AbortSignal): Promise<void> {
    if (admin === undefined) return
    const { sessions } = await admin.ask({ janus: 'list_sessions' }, signal)
    if (Array.isArray(sessions) && !sessions.includes(session.id)) this.#findings.add('serversDiffer')
  }

  /**
   * Closes the connection in the same way as a killed controller, and claims the session through another connection.
   */
  async #reclaim({ socket, session }: OpenedNode, signal: AbortSignal): Promise<void> {
    const { wsUrl: url, secrets, leadership } = this.#access
    const { logger } = this.#context
    const next = await JanusSocket.open({ url, apiSecret: secrets.api_secret, leadership, logger }, signal)
    try {
      socket.close()
      await sleep(noticedMs, { signal })
      await (await JanusSession.claim(next, session.id, [], signal)).destroy(signal)
    } catch (error) {
      if (!isJanusError(error, janusCodes.noSession)) throw error
      this.#findings.add('reclaimOff')
    } finally {
      next.close()
    }
  }
}

/**
 * Inspects the Admin API of a node.
 * @returns the API if it accepts the secret; the caller closes it
 * @throws the signal's reason
 */
async function inspectAdmin(
  { adminUrl, secrets, leadership }: JanusAccess,
  findings: JanusFindings,
  signal: AbortSignal,
): Promise<AdminApi | undefined> {
  if (adminUrl === '') {
    findings.add('adminUnused')
    return undefined
  }
  const admin = new AdminApi({ url: adminUrl, secret: secrets.admin_secret, leadership })
  try {
    if ((await listSessions(admin, signal)) === janusCodes.unauthorized) {
      findings.add('adminSecretWrong')
    } else {
      if (await isOpenToAll({ url: adminUrl, leadership }, signal)) findings.add('adminOpen')
      return admin
    }
  } catch (error) {
    signal.throwIfAborted()
    const why = janusUnreachableReason(error)
    if (why === undefined) findings.add('adminNotJanus', { reason: error instanceof Error ? error.message : '' })
    else findings.add('adminUnreachable', { reason: why })
  }
  admin.close()
  return undefined
}

/** Returns whether the Admin API accepts requests without a secret. */
async function isOpenToAll(at: Pick<AdminApiOptions, 'url' | 'leadership'>, signal: AbortSignal): Promise<boolean> {
  const stranger = new AdminApi({ ...at, secret: '' })
  try {
    return (await listSessions(stranger, signal)) === 0
  } finally {
    stranger.close()
  }
}

function listSessions(admin: AdminApi, signal: AbortSignal): Promise<number> {
  return janusErrorOf(admin.ask({ janus: 'list_sessions' }, signal))
}

/**
 * Requests to a plugin that cannot succeed. The error code shows which secrets the plugin requires. Nothing is created.
 */
interface PluginTrial {
  /** Requests a nonexistent object by name. */
  named: JanusFields
  /** A creation with an invalid form, which the plugin rejects only after it has checked the admin_key. */
  create: JanusFields
  /** Code for a value of the wrong type or content. */
  invalid: number
  /** Codes for a missing or wrong admin_key. */
  keyRefused: readonly number[]
  open: 'roomsCreatable' | 'camerasCreatable'
}

/**
 * Checks whether a plugin accepts string names, and whether it requires the key to create objects. Returns whether the
 * controller can create rooms or mountpoints.
 * @throws the errors of JanusSocket.request
 */
async function inspectPlugin(
  handle: JanusHandle,
  adminKey: string,
  findings: JanusFindings,
  signal: AbortSignal,
): Promise<boolean> {
  const { plugin } = handle
  const { named, create, invalid, keyRefused, open } = trials[plugin]
  const refusal = (request: JanusFields): Promise<number> => janusErrorOf(handle.request(request, signal))
  if ((await refusal(named)) === invalid) {
    findings.add('stringIdsOff', { plugin })
    return false
  }
  if (!keyRefused.includes(await refusal(create))) findings.add(open)
  const withKey = await refusal({ ...create, admin_key: adminKey })
  if (!keyRefused.includes(withKey)) return true
  findings.add('adminKeyWrong', { plugin })
  return false
}
