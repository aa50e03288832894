import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { JanusCameras } from '../../../server/nodes/janus/cameras/janus-cameras.ts'
import { EventPort } from '../../../server/nodes/janus/events/event-port.ts'
import { JanusNodes } from '../../../server/nodes/janus/janus-nodes.ts'
import {
  eventPath,
  type JanusAccess,
  janusAccess,
  janusSecretsAfter,
  janusSecretsOf,
} from '../../../server/nodes/secrets/janus-access.ts'
import { noDevices } from '../../../server/nodes/janus/rooms/room-devices.ts'
import { NodePool } from '../../../server/nodes/pool/node-pool.ts'
import type { PoolEvent } from '../../../server/nodes/port/pool-events.ts'
import { openStore } from '../../../server/store/open-store.ts'
import type { StoredNode, StoredRoom } from '../../../server/store/records.ts'
import { createSealer } from '../../../server/store/sealer.ts'
import { Removals } from '../../../server/rooms/removals.ts'
import type { Store } from '../../../server/store/store.ts'
import type { NodeInput, NodeSecretName } from '../../../shared/node.ts'
import { defaultSettings, type Settings } from '../../../shared/settings.ts'
import type { JanusConfiguration } from '../janus/janus-configuration.ts'
import { type JanusServer, startJanus } from '../janus/janus-server.ts'
import { productFiles } from '../janus/safe-janus.ts'
import { storedNode, storedRoom } from '../stored-records.ts'
import { shortDeadlines } from './pool-site.ts'

/** What is otherwise than on a node that asks for nothing and is polled. */
export interface JanusSiteOptions {
  /** Signed tokens: rooms are guarded. */
  tokenSecret?: string
  adminKey?: string
  /** The node sends its events. */
  events?: boolean
  /** The node has the configuration files that the product makes for it. */
  ownFiles?: boolean
  /** Cameras are put on the node. */
  cameras?: boolean
  settings?: (settings: Settings) => void
}

function nodeAt({ wsPort, adminPort }: JanusConfiguration, secrets_sealed: string): StoredNode {
  return storedNode('j', {
    kind: 'janus',
    ws_url: `ws://127.0.0.1:${wsPort}`,
    admin_url: `http://127.0.0.1:${adminPort}/admin`,
    secrets_sealed,
  })
}

/** A pool with one node, which is a Janus process of its own; without cameras. */
export class JanusSite implements AsyncDisposable {
  readonly janus: JanusServer
  readonly store: Store
  readonly settings: Settings
  readonly nodes: JanusNodes
  readonly port: EventPort
  /** Everything the pool told so far. */
  readonly told: PoolEvent[] = []
  readonly logged: string[] = []
  /** The node as its driver knows it. */
  readonly access: JanusAccess
  readonly #folder: string
  #pool: NodePool

  private constructor(janus: JanusServer, store: Store, folder: string, options: JanusSiteOptions, port?: EventPort) {
    this.janus = janus
    this.store = store
    this.#folder = folder
    this.settings = { ...defaultSettings(), deadlines: { ...shortDeadlines } }
    options.settings?.(this.settings)
    const node = store.get('nodes', 'j')
    if (node === undefined) throw new Error('no node')
    this.access = janusAccess(node, store)
    const quiet = (): void => undefined
    const log = (fields: object, message: string): void => void this.logged.push(`${message} ${JSON.stringify(fields)}`)
    const logger = { debug: quiet, info: quiet, warn: log, error: log }
    this.nodes = new JanusNodes({
      store,
      settings: () => this.settings,
      removals: new Removals({ store, settings: () => this.settings, logger }),
      logger,
      devices: (access, rooms, emit) =>
        options.cameras === true
          ? new JanusCameras({ access, store, rooms, probe: () => undefined, restricted: () => false, emit, logger })
          : noDevices,
      changed: () => this.port.review(),
    })
    this.port = port ?? new EventPort({ sources: () => [], logger })
    this.#pool = this.#makePool(logger)
  }

  static async start(options: JanusSiteOptions = {}): Promise<JanusSite> {
    const folder = await mkdtemp(join(tmpdir(), 'roomdesk-janus-'))
    const store = await openStore({ folder, sealer: createSealer(Buffer.alloc(32, 1)) })
    const api_secret = options.cameras === true ? 'api secret' : ''
    const secrets: Pick<NodeInput, 'name' | NodeSecretName> = {
      name: 'j',
      api_secret,
      admin_secret: 'admin secret',
      admin_key: options.adminKey ?? '',
      token_secret: options.tokenSecret ?? '',
    }
    const secrets_sealed = janusSecretsAfter(secrets, undefined, store)
    const { event_secret } = janusSecretsOf({ name: 'j', secrets_sealed }, store)
    const started: { site?: JanusSite } = {}
    const quiet = (): void => undefined
    const port = new EventPort({
      sources: () => started.site?.nodes.sources() ?? [],
      logger: { warn: quiet, error: quiet },
    })
    await port.start('127.0.0.1', 0, undefined)
    const janus = await startJanus({
      secrets: { api: api_secret, admin: secrets.admin_secret ?? '', adminKey: secrets.admin_key ?? '' },
      tokenSecret: secrets.token_secret ?? '',
      eventBackend: options.events === true ? `${port.url.replace('http', 'ws')}${eventPath('j')}` : '',
      files: (files, configuration) => {
        if (options.ownFiles === true) {
          const access = janusAccess(nodeAt(configuration, secrets_sealed), store)
          const backend = `${port.url.replace('http', 'ws')}${eventPath('j')}`
          return productFiles(access, configuration, { backend, subprotocol: event_secret })
        }
        const handler = 'janus.eventhandler.wsevh.jcfg'
        return { ...files, [handler]: (files[handler] ?? '').replace('"ev1"', `"${event_secret}"`) }
      },
    })
    await store.transact([], (change) => {
      change.put('nodes', 'j', nodeAt(janus.configuration, secrets_sealed))
    })
    const site = new JanusSite(janus, store, folder, options, port)
    started.site = site
    await site.#pool.start()
    return site
  }

  get pool(): NodePool {
    return this.#pool
  }

  /** A room that is on the node, as it is given here. */
  async room(roomId: string, fields: Partial<StoredRoom> = {}): Promise<void> {
    await this.changeRoom(roomId, fields)
    await this.pool.assign(roomId)
  }

  async changeRoom(roomId: string, fields: Partial<StoredRoom>): Promise<void> {
    await this.store.transact([`rooms/${roomId}`], (change) => {
      change.put('rooms', roomId, { ...(this.store.get('rooms', roomId) ?? storedRoom(roomId)), ...fields })
    })
  }

  /** Names of those in a room. */
  users(roomId: string): string[] {
    return this.pool.usersOf(roomId).map(({ userId }) => userId)
  }

  /** The room as the node lists it; undefined when it is not there. */
  async onNode(roomId: string): ReturnType<JanusServer['room']> {
    return await this.janus.room(roomId)
  }

  /** How the pool sees the node. */
  get state(): { state: string; last_error: string } {
    const [view] = this.pool.views()
    return { state: view?.state ?? '', last_error: view?.last_error ?? '' }
  }

  /** What somebody shows to get into a room. */
  async tickets(roomId: string, userId: string, lifeMs = 60_000) {
    const expiresAt = Math.ceil((Date.now() + lifeMs) / 1_000)
    const signal = AbortSignal.timeout(10_000)
    for (;;) {
      try {
        return await this.nodes.letIn('j', { roomId, userId, role: 'member', expiresAt }, signal)
      } catch (error) {
        // That the node has started is told a moment after it answers: its rooms are looked at anew then.
        if (signal.aborted || !String(error).includes('try again')) throw error
        await setTimeout(20)
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.stop()
    await this.port.stop()
    await this.janus[Symbol.asyncDispose]()
    await this.store.close()
    await rm(this.#folder, { recursive: true, force: true })
  }

  #makePool(logger: ConstructorParameters<typeof NodePool>[0]['logger']): NodePool {
    const pool = new NodePool({
      store: this.store,
      settings: () => this.settings,
      logger,
      drivers: { janus: (node) => this.nodes.driver(node) },
      defaultAddress: () => '127.0.0.1:7082',
    })
    pool.onEvent((event) => this.told.push(event))
    return pool
  }
}
