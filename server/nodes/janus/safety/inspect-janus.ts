import { sleep } from '../../../../shared/sleep.ts'
import { within } from '../../port/deadline.ts'
import type { NodeInspection } from '../../port/node-inspection.ts'
import { describeFailure } from '../../port/node-failure.ts'
import type { AdminApi } from '../wire/admin-api.ts'
import { isJanusError, janusCodes } from '../wire/janus-error.ts'
import { JanusSession } from '../wire/janus-session.ts'
import { JanusSocket } from '../wire/janus-socket.ts'
import type { JanusAccess } from '../../secrets/janus-access.ts'
import { Findings } from './janus-findings.ts'
import { inspectAdmin } from './inspect-admin.ts'
import { connectTo, type NodeFacts, openAsController, type OpenedNode, readFacts } from './inspect-access.ts'
import { inspectPlugin } from './inspect-plugins.ts'
import type { InspectionContext } from './inspection-context.ts'
import { inspectTokens } from './inspect-tokens.ts'
import { whyUnreachable } from './trial-call.ts'
import { inspectRoom } from './trial-room.ts'

/** Time for a whole test, in milliseconds: a good node needs a tenth of a second. */
const inspectionMs = 10_000
/** Janus notices within this that a connection has ended, in milliseconds. */
const noticedMs = 250

/**
 * Finds what is wrong and what is unsafe on a Janus node, by trying it: as the controller, as a stranger, and as somebody who was let in. What it makes it removes again.
 * Never rejects.
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
  readonly #findings = new Findings()
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
      // It ends with the signal at the latest; its failure is not reported if another one came first.
      await admin.then((api) => api?.close()).catch(() => {})
    }
  }

  /** Takes the error that cut the test short. */
  failed(error: unknown): void {
    this.#context.logger.info({ node: this.#access.name, err: error }, 'the test of a node was cut short')
    this.#findings.add('trialFailed', { reason: whyUnreachable(error) ?? describeFailure(error).replace(/\.$/, '') })
  }

  async #inspect(admin: Promise<AdminApi | undefined>, signal: AbortSignal): Promise<void> {
    const stranger = await connectTo(this.#access, this.#context.logger, this.#findings, signal)
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
    const facts = await readFacts(stranger, this.#findings, signal)
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

  /** The Admin API knows the session that was opened through the WebSocket. */
  async #sameServer({ session }: OpenedNode, admin: AdminApi | undefined, signal: AbortSignal): Promise<void> {
    if (admin === undefined) return
    const { sessions } = await admin.ask({ janus: 'list_sessions' }, signal)
    if (Array.isArray(sessions) && !sessions.includes(session.id)) this.#findings.add('serversDiffer')
  }

  /** Leaves as a controller does that is killed, and takes its session over from another connection. */
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
