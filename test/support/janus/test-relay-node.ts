import { sole } from '../sole-leadership.ts'
import type { Leadership } from '../../../server/store/store.ts'
import { AdminApi } from '../../../server/nodes/janus/wire/admin-api.ts'
import { RelayIds, type RelayParticipant } from '../../../server/nodes/janus/relay/relay-participants.ts'
import { type RelayNode, RelaySession } from '../../../server/nodes/janus/relay/relay-node.ts'
import { RelayRecords } from '../../../server/nodes/janus/relay/relay-records.ts'
import type { JanusServer } from './janus-server.ts'

const logger = { debug: () => {}, info: () => {}, warn: console.warn, error: console.error }

/** A Janus as relays see it; its rooms admit everybody. */
export class TestRelayNode implements RelayNode {
  readonly name: string
  readonly janus: JanusServer
  readonly ids = new RelayIds('test')
  readonly records: RelayRecords
  readonly session: RelaySession
  readonly admin: AdminApi
  readonly participants = {
    admit: () => Promise.resolve({}),
    release: () => Promise.resolve(),
    clear: (participant: RelayParticipant) => this.#clear(participant),
  }
  #isAbandoned = false

  constructor(name: string, janus: JanusServer, records = forgetful()) {
    this.name = name
    this.janus = janus
    this.records = records
    const { api: apiSecret, admin: secret } = janus.configuration.secrets
    // A dead controller sends no requests.
    const confirmed = (): ReturnType<Leadership['confirmed']> =>
      this.#isAbandoned ? Promise.reject(new Error('it is no more')) : sole.confirmed()
    const socket = { url: janus.wsUrl, apiSecret, leadership: { confirmed }, logger }
    this.session = new RelaySession({ node: name, socket, records, logger })
    this.admin = new AdminApi({ url: janus.adminUrl, secret, leadership: sole })
  }

  /** Abandons the session, which lives on on Janus. */
  async abandon(): Promise<void> {
    const session = await this.session.get(AbortSignal.timeout(2_000))
    this.#isAbandoned = true
    session.release()
  }

  /** Cuts the connection to the controller; Janus keeps its session. */
  async cut(): Promise<void> {
    ;(await this.session.get(AbortSignal.timeout(2_000))).release()
  }

  async #clear({ roomId, id }: RelayParticipant): Promise<void> {
    if (!this.#isAbandoned) await this.janus.ask('videoroom', { request: 'kick', room: roomId, id }).catch(() => {})
  }

  async close(): Promise<void> {
    await this.session.close()
    this.admin.close()
  }
}

/** Keeps no records for the next controller. */
function forgetful(): RelayRecords {
  const none = new Map<string, never>()
  const store = { all: () => none, get: () => undefined, transact: () => Promise.resolve(undefined as never) }
  return new RelayRecords(store, logger)
}

/** Opens a room on Janus that requires the private id of subscribers. */
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
