import { parseDeviceAddress } from '../../../shared/device-address.ts'
import { onTestFinished } from 'vitest'
import type { StuckDisk } from '../../../server/lab/stuck-disk.ts'
import type { MediaNode } from '../../../server/nodes/port/media-node-port.ts'
import { NodePool } from '../../../server/nodes/pool/node-pool.ts'
import type { PoolEvent } from '../../../server/nodes/port/pool-events.ts'
import { SimulatedNode } from '../../../server/nodes/simulated/simulated-node.ts'
import type { StoredNode, StoredRoom } from '../../../server/store/records.ts'
import type { Store } from '../../../server/store/store.ts'
import { defaultSettings, type Settings } from '../../../shared/settings.ts'
import { storedNode, storedRoom } from '../stored-records.ts'
import { temporaryStore } from './store-site.ts'

/** A pool on a store of its own, with simulated nodes within reach of the test. */
export interface PoolSite {
  store: Store
  /** Holds flushes of the store back. */
  stuckDisk: StuckDisk
  pool: NodePool
  settings: Settings
  /** Events of the pool so far. */
  told: PoolEvent[]
  /** Log entries of the pool of level warn and above. */
  logged: string[]
  /** Finds the simulated node of that name among the enabled ones. */
  node(name: string): SimulatedNode
  /** Waits for the first matching event from now on. */
  next(wanted: (event: PoolEvent) => boolean): Promise<PoolEvent>
  addNode(name: string, fields?: Partial<StoredNode>): Promise<void>
  addRoom(roomId: string, fields?: Partial<StoredRoom>): Promise<void>
  changeRoom(roomId: string, fields: Partial<StoredRoom>): Promise<void>
  removeRoom(roomId: string): Promise<void>
}

/** Deadlines that poll often and that a busy machine meets. A test that waits for a deadline sets a short one. */
export const shortDeadlines: Settings['deadlines'] = {
  store_ms: 5_000,
  node_ms: 3_000,
  device_ms: 3_000,
  health_ms: 3_000,
  health_interval_ms: 50,
  shutdown_ms: 500,
}

/** Options of the site, applied before the pool starts. */
export interface PoolSiteOptions {
  nodes?: Record<string, Partial<StoredNode>>
  rooms?: Record<string, Partial<StoredRoom>>
  deadlines?: Partial<Settings['deadlines']>
  /** See NodePoolOptions. */
  now?: () => number
  /** See NodePoolOptions. */
  secondaryIdleMs?: number
  /** Called with each simulated node before the pool connects to it. */
  prepare?: (node: SimulatedNode, name: string) => void
  /** Returns the site while its nodes are still connecting. */
  atOnce?: boolean
  /** Makes a driver instead of a simulated node, for nodes of every kind. */
  driver?: (config: StoredNode) => MediaNode
}

/** Starts a pool that stops with the test. */
export async function poolSite(options: PoolSiteOptions = {}): Promise<PoolSite> {
  const settings = { ...defaultSettings(), deadlines: { ...shortDeadlines, ...options.deadlines } }
  const files = await temporaryStore(() => settings.deadlines.store_ms)
  onTestFinished(() => files.remove())
  const { store, stuckDisk } = files
  const nodes = new Map<string, SimulatedNode>()
  const logged: string[] = []
  const told: PoolEvent[] = []
  const log = (_: object, message: string): void => void logged.push(message)
  const quiet = (): void => undefined

  await store.transact([], (change) => {
    for (const [name, fields] of Object.entries(options.nodes ?? { main: {} })) {
      change.put('nodes', name, storedNode(name, fields))
    }
    for (const [roomId, fields] of Object.entries(options.rooms ?? {})) {
      change.put('rooms', roomId, storedRoom(roomId, fields))
    }
  })

  const simulated = (config: StoredNode): MediaNode => {
    const node = new SimulatedNode()
    nodes.set(config.name, node)
    options.prepare?.(node, config.name)
    return node
  }
  const driver = options.driver ?? simulated
  const pool = new NodePool({
    store,
    settings: () => settings,
    ...(options.now === undefined ? {} : { now: options.now }),
    ...(options.secondaryIdleMs === undefined ? {} : { secondaryIdleMs: options.secondaryIdleMs }),
    logger: { debug: quiet, info: quiet, warn: log, error: log },
    // The pool does not depend on how an embedded node treats media.
    drivers: { simulated: driver, embedded: driver, ...(options.driver === undefined ? {} : { janus: driver }) },
    defaultAddress: () => '127.0.0.1:7082',
  })
  pool.events.subscribe((event) => told.push(event))
  onTestFinished(() => pool.stop())
  const started = pool.start()
  if (options.atOnce !== true) await started

  return {
    store,
    stuckDisk,
    pool,
    settings,
    told,
    logged,
    node(name) {
      const node = nodes.get(name)
      if (node === undefined) throw new Error(`no node ${name}`)
      return node
    },
    next: (wanted) =>
      new Promise((resolve) => {
        const unsubscribe = pool.events.subscribe((event) => {
          if (!wanted(event)) return
          unsubscribe()
          resolve(event)
        })
      }),
    addNode: (name, fields = {}) =>
      store.transact([`nodes/${name}`], (change) => change.put('nodes', name, storedNode(name, fields))),
    addRoom: (roomId, fields = {}) =>
      store.transact([`rooms/${roomId}`], (change) => change.put('rooms', roomId, storedRoom(roomId, fields))),
    changeRoom: (roomId, fields) =>
      store.transact([`rooms/${roomId}`], (change) => {
        const room = store.get('rooms', roomId)
        if (room === undefined) throw new Error(`no room ${roomId}`)
        change.put('rooms', roomId, { ...room, ...fields })
      }),
    removeRoom: (roomId) => store.transact([`rooms/${roomId}`], (change) => change.delete('rooms', roomId)),
  }
}

/** A device at that address. */
export function camera(userId: string, address = 'rtsp://10.0.0.8:554/live') {
  const source = parseDeviceAddress(address)
  return {
    userId,
    userName: userId,
    address: source,
    assistAddress: undefined,
    login: { name: 'admin', password: 'secret' },
  }
}

/** Predicate for `next`: the node entered that state. */
export function stateIs(name: string, state: string): (event: PoolEvent) => boolean {
  return (event) => event.type === 'nodeState' && event.name === name && event.state === state
}

/** Predicate for `next`: an event of that type, about that node. */
export function isOf(type: PoolEvent['type'], name: string): (event: PoolEvent) => boolean {
  return (event) => event.type === type && 'name' in event && event.name === name
}
