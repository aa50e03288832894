import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, vi } from 'vitest'
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
import { Participant } from '../janus/participant.ts'

/** Options beyond a node without credentials that is polled. */
export interface JanusSiteOptions {
  /** Secret of signed tokens: rooms need a token. */
  tokenSecret?: string
  adminKey?: string
  /** The node sends its events. */
  events?: boolean
  /** The node uses the configuration files that the product writes for it. */
  ownFiles?: boolean
  /** The node pulls cameras. */
  cameras?: boolean
  settings?: (settings: Settings) => void
}

/** @param early the node before its server has ports */
function nodeAt(
  { wsPort, adminPort }: JanusConfiguration,
  early: StoredNode,
  secrets: Secrets,
  store: Store,
): StoredNode {
  const targets = { ws_url: `ws://127.0.0.1:${wsPort}`, admin_url: `http://127.0.0.1:${adminPort}/admin` }
  return { ...early, ...targets, secrets_sealed: janusSecretsAfter({ ...secrets, ...targets }, early, store) }
}

type Secrets = Pick<NodeInput, 'name' | 'kind' | NodeSecretName>

/** A pool with one node, which is a Janus process of its own; without cameras. */
export class JanusSite implements AsyncDisposable {
  readonly janus: JanusServer
  readonly store: Store
  readonly settings: Settings
  readonly nodes: JanusNodes
  readonly port: EventPort
  /** Events of the pool so far. */
  readonly told: PoolEvent[] = []
  readonly logged: string[] = []
  /** Access of the driver to the node. */
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
    const secrets: Secrets = {
      name: 'j',
      kind: 'janus',
      api_secret,
      admin_secret: 'admin secret',
      admin_key: options.adminKey ?? '',
      token_secret: options.tokenSecret ?? '',
    }
    const withoutPorts = { ws_url: '', admin_url: '' }
    const secrets_sealed = janusSecretsAfter({ ...secrets, ...withoutPorts }, undefined, store)
    const early = storedNode('j', { kind: 'janus', ...withoutPorts, secrets_sealed })
    const { event_secret } = janusSecretsOf(early, store)
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
          const access = janusAccess(nodeAt(configuration, early, secrets, store), store)
          const backend = `${port.url.replace('http', 'ws')}${eventPath('j')}`
          return productFiles(access, configuration, { backend, subprotocol: event_secret })
        }
        const handler = 'janus.eventhandler.wsevh.jcfg'
        return { ...files, [handler]: (files[handler] ?? '').replace('"ev1"', `"${event_secret}"`) }
      },
    })
    await store.transact([], (change) => {
      change.put('nodes', 'j', nodeAt(janus.configuration, early, secrets, store))
    })
    const site = new JanusSite(janus, store, folder, options, port)
    started.site = site
    await site.#pool.start()
    // Only the event of a join names the token that was used.
    if (options.events === true) await vi.waitFor(() => expect(port.connections()).toBe(1), { timeout: 10_000 })
    return site
  }

  get pool(): NodePool {
    return this.#pool
  }

  /** Opens a room with these fields on the node. */
  async room(roomId: string, fields: Partial<StoredRoom> = {}): Promise<void> {
    await this.changeRoom(roomId, fields)
    await this.pool.callerNodes.nodeFor(roomId)
  }

  async changeRoom(roomId: string, fields: Partial<StoredRoom>): Promise<void> {
    await this.store.transact([`rooms/${roomId}`], (change) => {
      change.put('rooms', roomId, { ...(this.store.get('rooms', roomId) ?? storedRoom(roomId)), ...fields })
    })
  }

  /** Names of the users in a room. */
  users(roomId: string): string[] {
    return this.pool.presence.usersOf(roomId).map(({ userId }) => userId)
  }

  /** Reads the room from the node's list; undefined if it does not exist. */
  async onNode(roomId: string): ReturnType<JanusServer['room']> {
    return await this.janus.room(roomId)
  }

  /** State of the node in the pool. */
  get state(): { state: string; last_error: string } {
    const [view] = this.pool.nodes.views()
    return { state: view?.state ?? '', last_error: view?.last_error ?? '' }
  }

  /** Issues the credentials of a participant. */
  async tickets(roomId: string, userId: string, lifeMs = 60_000) {
    const expiresAt = Math.ceil((Date.now() + lifeMs) / 1_000)
    const signal = AbortSignal.timeout(10_000)
    for (;;) {
      try {
        return await this.nodes.letIn('j', { roomId, userId, role: 'member', expiresAt }, signal)
      } catch (error) {
        // The pool notices a moment after its first answer that the node has restarted; it then checks its rooms again.
        if (signal.aborted || !String(error).includes('try again')) throw error
        await setTimeout(20)
      }
    }
  }

  /** Joins a room by Janus's own API, with tokens of their own. */
  async enter(roomId: string, userId: string): Promise<Participant> {
    const { room, token, roomToken } = await this.tickets(roomId, userId)
    const person = await Participant.connect(this.janus.wsUrl, token)
    await person.join(room, userId, roomToken)
    return person
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
    pool.events.subscribe((event) => this.told.push(event))
    return pool
  }
}
