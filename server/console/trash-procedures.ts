import { randomBytes } from 'node:crypto'
import type { ProcedureOutput, ProcedureParsed } from '../../shared/console/contract.ts'
import type { TrashKind, TrashView } from '../../shared/console/trash.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { type Refusal, refusal } from '../../shared/refusals/refusal.ts'
import type { Settings } from '../../shared/settings.ts'
import { portProblem } from '../nodes/embedded/node-ports.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import { inBulk } from '../rooms/bulk.ts'
import { lockOf } from '../rooms/room-record.ts'
import type { StoredDevice, StoredNode, StoredRoom, StoredTrash } from '../store/records.ts'
import type { Store, Transaction } from '../store/store.ts'
import { type Deletion, lockOfTrash, type Trash } from '../store/trash.ts'
import { actorOf, type CallOrigin, type ProcedureHandlers, type RestoreName } from './handlers.ts'

/** Returns a deletion by an operator that can be undone as a whole. */
export function deletionBy(origin: CallOrigin): Deletion {
  const { type, name } = actorOf(origin)
  return { by: { type: type === 'system' ? 'system' : 'operator', name }, batch: randomBytes(9).toString('base64url') }
}

/** Returns the id with which a deletion can be undone; empty: the trash contains no record of the deletion. */
export function undoOf(trash: Pick<Trash, 'ofBatch'>, { batch }: Deletion): string {
  return trash.ofBatch(batch).length === 0 ? '' : batch
}

export function trashHandlers(
  trash: Trash,
  settings: () => Settings,
  restore: TrashRestore,
  logger: NodeLogger,
): ProcedureHandlers<'trash.list' | 'trash.purge' | 'trash.empty' | RestoreName> {
  const restoring =
    (kind: TrashKind) =>
    async ({ ids, undo = '' }: ProcedureParsed<RestoreName>): Promise<ProcedureOutput<RestoreName>> => {
      const restored: string[] = []
      const wanted = ids ?? trash.ofBatch(undo)
      const run = async (id: string): Promise<void> => void restored.push(await restore.restore(kind, id))
      // If all entries of an undo id are gone, the call fails like a call with a missing entry.
      return { ...(await inBulk(wanted.length === 0 ? [undo] : wanted, logger, run)), restored }
    }
  return {
    'trash.list': ({ search, kind, offset, limit }) => {
      const text = search.trim().toLowerCase()
      const all = trash.entries()
      const matching = all.filter((entry) => {
        if (kind !== undefined && entry.kind !== kind) return false
        return text === '' || keyOf(entry).toLowerCase().includes(text) || nameOf(entry).toLowerCase().includes(text)
      })
      const items = matching.slice(offset, offset + limit).map(viewOf)
      return { total: matching.length, all: all.length, items, full: trash.index.isFull(), days: settings().trash.days }
    },
    'trash.purge': async ({ ids }) => ({ done: (await trash.purge(ids)).length }),
    'trash.empty': async () => ({ done: (await trash.purge(trash.entries().map(({ id }) => id))).length }),
    'rooms.restore': restoring('rooms'),
    'devices.restore': restoring('devices'),
    'credentials.restore': restoring('credentials'),
    'nodes.restore': restoring('nodes'),
    'wall.restore': restoring('wall_views'),
  }
}

function viewOf(entry: StoredTrash): TrashView {
  const { id, kind, deleted_at, expires_at, deleted_by } = entry
  return {
    id,
    kind,
    key: keyOf(entry),
    name: nameOf(entry),
    room_id: entry.kind === 'devices' ? entry.record.roomId : '',
    cameras: entry.kind === 'rooms' ? entry.devices.length : 0,
    deleted_at,
    expires_at,
    deleted_by,
  }
}

function nameOf(entry: StoredTrash): string {
  switch (entry.kind) {
    case 'rooms':
      return entry.record.topic
    case 'devices':
      return entry.record.userName
    case 'credentials':
      return entry.record.label
    case 'nodes':
    case 'wall_views':
      return entry.record.name
  }
}

interface RestoreDependencies {
  store: Store
  trash: Pick<Trash, 'get' | 'index'>
  pool: Pick<NodePool, 'presence'>
}

type EntryOf<K extends TrashKind> = Extract<StoredTrash, { kind: K }>

/** Restores objects from the trash, completely or not at all. Refuses if a name, number or key is in use. */
export class TrashRestore {
  readonly #dependencies: RestoreDependencies

  constructor(dependencies: RestoreDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Restores one entry.
   * @returns key of the record
   * @throws RefusalError notFound, conflict; ApiError licenceExceeded, storage
   */
  async restore(kind: TrashKind, id: string): Promise<string> {
    const entry = this.#entry(kind, id)
    return await this.#dependencies.store.transact([lockOfTrash(id), ...locksOf(entry)], (transaction) => {
      // The entry may have been restored or deleted permanently while this call waited for the lock.
      this.#entry(kind, id)
      this.#put(entry, transaction)
      transaction.delete('trash', id)
      return keyOf(entry)
    })
  }

  #entry(kind: TrashKind, id: string): StoredTrash {
    const entry = this.#dependencies.trash.get(id)
    if (entry?.kind === kind) return entry
    throw new RefusalError(refusal('trashGone'))
  }

  #put(entry: StoredTrash, transaction: Transaction): void {
    switch (entry.kind) {
      case 'rooms':
        return this.#putRoom(entry, transaction)
      case 'devices':
        return this.#putDevice(entry.record, transaction)
      case 'credentials':
        return this.#putCredential(entry, transaction)
      case 'nodes':
        return this.#putNode(entry, transaction)
      case 'wall_views':
        return this.#putView(entry, transaction)
    }
  }

  #putRoom({ record, devices }: EntryOf<'rooms'>, transaction: Transaction): void {
    const { store } = this.#dependencies
    const { room_id } = record
    if (store.get('rooms', room_id) !== undefined) throw new RefusalError(refusal('trashRoomTaken', { room: room_id }))
    this.#checkDevices(devices)
    transaction.put(
      'rooms',
      room_id,
      onKnownNodes(record, (node) => store.get('nodes', node) !== undefined),
    )
    for (const device of devices) transaction.put('devices', device.userId, device)
  }

  #putDevice(device: StoredDevice, transaction: Transaction): void {
    const { store, trash } = this.#dependencies
    const { roomId, userId } = device
    if (store.get('rooms', roomId) === undefined)
      throw new RefusalError(
        refusal(trash.index.holdsRoom(roomId) ? 'trashRoomFirst' : 'trashRoomGone', { room: roomId, camera: userId }),
      )
    this.#checkDevices([device])
    transaction.put('devices', userId, device)
  }

  /**
   * Checks that the ids of devices are free.
   * @throws RefusalError conflict if an id is in use
   */
  #checkDevices(devices: readonly StoredDevice[]): void {
    const { store, pool } = this.#dependencies
    for (const { userId, roomId } of devices) {
      const other = store.get('devices', userId)?.roomId
      if (other !== undefined) throw new RefusalError(refusal('trashCameraTaken', { camera: userId, room: other }))
      if (pool.presence.user(roomId, userId)?.device === false)
        throw new RefusalError(refusal('trashCameraIdInUse', { camera: userId, room: roomId }))
    }
  }

  #putCredential({ record }: EntryOf<'credentials'>, transaction: Transaction): void {
    const { store } = this.#dependencies
    const key = record.access_key
    if (store.get('credentials', key) !== undefined)
      throw new RefusalError(refusal('trashCredentialTaken', { credential: key }))
    transaction.put('credentials', key, record)
  }

  #putNode({ record }: EntryOf<'nodes'>, transaction: Transaction): void {
    const { store } = this.#dependencies
    const { name } = record
    if (store.get('nodes', name) !== undefined) throw new RefusalError(refusal('trashNodeTaken', { node: name }))
    const problem = portProblem(record, store.all('nodes').values())
    if (problem !== undefined) throw new RefusalError(portRefusal(record, problem))
    transaction.put('nodes', name, record)
  }

  #putView({ record }: EntryOf<'wall_views'>, transaction: Transaction): void {
    const { store } = this.#dependencies
    const views = store.all('wall_views')
    for (const { name } of views.values())
      if (name.localeCompare(record.name, 'en', { sensitivity: 'base' }) === 0)
        throw new RefusalError(refusal('trashViewTaken', { view: name }))
    transaction.put('wall_views', record.id, record)
  }
}

/** Returns the key of a deleted record in its collection. */
function keyOf(entry: StoredTrash): string {
  switch (entry.kind) {
    case 'rooms':
      return entry.record.room_id
    case 'devices':
      return entry.record.userId
    case 'credentials':
      return entry.record.access_key
    case 'nodes':
      return entry.record.name
    case 'wall_views':
      return entry.record.id
  }
}

/** Returns the locks that every change of these records holds. */
function locksOf(entry: StoredTrash): string[] {
  switch (entry.kind) {
    case 'rooms':
      return [lockOf(entry.record.room_id), ...entry.devices.map(({ userId }) => `devices/${userId}`)]
    case 'devices':
      return [lockOf(entry.record.roomId), `devices/${entry.record.userId}`]
    case 'credentials':
      return ['credentials', `credentials/${entry.record.access_key}`]
    case 'nodes':
      return ['nodes', `nodes/${entry.record.name}`]
    case 'wall_views':
      return ['wall']
  }
}

/** Returns the room without nodes that were removed meanwhile. */
function onKnownNodes(room: StoredRoom, known: (node: string) => boolean): StoredRoom {
  const { branches, ...whole } = room
  if (!known(room.node)) return { ...whole, node: '' }
  const left = branches?.filter(known) ?? []
  return left.length === 0 ? whole : { ...whole, branches: left }
}

/** Returns the reason why a node's port is unavailable, with a remedy. */
function portRefusal({ name: node, port }: StoredNode, problem: Refusal): Refusal {
  const { name } = problem.values
  if (name === undefined) return problem
  return port === 0 ? refusal('trashPortShared', { node, name }) : refusal('trashPortTaken', { node, port, name })
}
