import { NodeConnectionError } from '../../../server/nodes/media-node.ts'
import { RelayIds } from '../../../server/nodes/janus/relay/relay-ids.ts'
import type { RelayNode, RelayParticipant } from '../../../server/nodes/janus/relay/relay-node.ts'
import { RelaySession } from '../../../server/nodes/janus/relay/relay-session.ts'
import type { JanusServer } from './janus-server.ts'

const logger = { debug: () => {}, info: () => {}, warn: console.warn, error: console.error }

/** A Janus as relays see it; its rooms let everybody in. */
export class TestRelayNode implements RelayNode {
  readonly name: string
  readonly janus: JanusServer
  readonly ids = new RelayIds('test')
  readonly #session: RelaySession
  #isAbandoned = false

  constructor(name: string, janus: JanusServer) {
    this.name = name
    this.janus = janus
    this.#session = new RelaySession({ url: janus.wsUrl, apiSecret: janus.configuration.secrets.api, logger })
  }

  session(signal: AbortSignal): ReturnType<RelayNode['session']> {
    return this.#isAbandoned ? Promise.reject(new NodeConnectionError('it is no more')) : this.#session.get(signal)
  }

  answers(): Promise<boolean> {
    return this.#session.answers()
  }

  admit(): Promise<Record<string, unknown>> {
    return Promise.resolve({})
  }

  release(): Promise<void> {
    return Promise.resolve()
  }

  async clear({ roomId, id }: RelayParticipant): Promise<void> {
    await this.janus.ask('videoroom', { request: 'kick', room: roomId, id }).catch(() => {})
  }

  /** Its session is nobody's any more, and lives on on Janus. */
  async abandon(): Promise<void> {
    const session = await this.#session.get(AbortSignal.timeout(2_000))
    this.#isAbandoned = true
    session.release()
  }

  close(): Promise<void> {
    return this.#session.close(AbortSignal.timeout(2_000))
  }
}

/** A room on Janus that asks whoever subscribes who they are. */
export async function openTestRoom(janus: JanusServer, room: string): Promise<void> {
  await janus.ask('videoroom', {
    request: 'create',
    room,
    permanent: false,
    publishers: 10,
    videocodec: 'vp8,h264',
    require_pvtid: true,
    admin_key: janus.configuration.secrets.adminKey,
  })
}
