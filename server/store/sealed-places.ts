import { loginTargets } from '../../shared/device-address.ts'
import type { StoredDevice, StoredNode, StoredTrash } from './records.ts'
import type { SealedPlace } from './sealer.ts'
import type { CollectionName } from './store.ts'
import type { State } from './state.ts'

/** Name of the field of each collection that holds a sealed text. If the field is empty, the record has no secret. */
const sealedFields = {
  credentials: 'secret_key_sealed',
  nodes: 'secrets_sealed',
  devices: 'login_password_sealed',
  rooms: 'host_password_sealed',
  accounts: 'password_sealed',
  recordings: 'token_sealed',
  lives: 'secrets_sealed',
  capabilities: 'code_sealed',
} as const satisfies Partial<Record<CollectionName, string>>

/** Collections whose records hold a sealed text. */
export type SealedCollection = keyof typeof sealedFields
type RecordOf<C extends SealedCollection> = State[C] extends ReadonlyMap<string, infer R> ? R : never

/** Returns the place of a secret that is sent to no address. */
export function sealedPlaceOf(collection: Exclude<SealedCollection, 'nodes' | 'devices'>, key: string): SealedPlace {
  return [collection, key, sealedFields[collection]]
}

/** Returns the place of the secrets of a node. The secrets of a Janus server are sent to its own addresses only. */
export function nodePlace(node: Pick<StoredNode, 'name' | 'kind' | 'ws_url' | 'admin_url'>): SealedPlace {
  const of = ['nodes', node.name, sealedFields.nodes]
  return node.kind === 'janus' ? { of, address: JSON.stringify([node.ws_url, node.admin_url]) } : of
}

/** Returns the place of the password of a camera. The password is sent to these hosts and ports only. */
export function devicePlace(device: Pick<StoredDevice, 'userId' | 'userAddress' | 'options'>): SealedPlace {
  const { assist_address: assist } = device.options
  const addresses = [device.userAddress, ...(typeof assist === 'string' ? [assist] : [])]
  return { of: ['devices', device.userId, sealedFields.devices], address: loginTargets(addresses) }
}

/** Returns the place of the secret of any record. */
export function placeOfRecord<C extends SealedCollection>(
  collection: C,
  key: string,
  record: RecordOf<C>,
): SealedPlace {
  if (collection === 'nodes') return nodePlace(record as StoredNode)
  if (collection === 'devices') return devicePlace(record as StoredDevice)
  return [collection, key, sealedFields[collection]]
}

/** Returns the place of the credential of a TURN server. The credential is sent to these addresses only. */
export function iceServerPlace(urls: unknown): SealedPlace {
  return ['settings', 'site', 'media.ice_servers', JSON.stringify(urls)]
}

/**
 * Returns the place of the secret key of the object storage. The key belongs to this key id, and signs requests to this
 * address only.
 */
export function objectStoragePlace({
  access_key_id: id,
  endpoint,
}: {
  access_key_id?: unknown
  endpoint?: unknown
}): SealedPlace {
  const of = ['settings', 'site', 'object_storage.secret_access_key', JSON.stringify(id)]
  return { of, address: String(endpoint) }
}

/** Returns the place of the media tickets of a node. Pages hold the tickets; the store does not contain them. */
export function ticketPlace(node: string): SealedPlace {
  return ['media ticket', node]
}

export const sealedCollections = Object.keys(sealedFields) as readonly SealedCollection[]

/** Returns the sealed text of a record; empty: it has no secret. */
export function sealedTextOf(collection: SealedCollection, record: object): string {
  const text: unknown = Reflect.get(record, sealedFields[collection])
  return typeof text === 'string' ? text : ''
}

/** Returns a copy of the record with a new sealed text. */
export function withSealedText<R extends object>(collection: SealedCollection, record: R, text: string): R {
  return { ...record, [sealedFields[collection]]: text }
}

/**
 * Returns an entry of the trash whose sealed texts, including those of a room's devices, are replaced by `after`.
 * Returns the same object if no text changes.
 */
export function withTrashTexts(entry: StoredTrash, after: (text: string, place: SealedPlace) => string): StoredTrash {
  const placed = <C extends SealedCollection, R extends RecordOf<C> & object>(
    collection: C,
    key: string,
    record: R,
  ): R => {
    const text = sealedTextOf(collection, record)
    const other = text === '' ? text : after(text, placeOfRecord(collection, key, record))
    return other === text ? record : withSealedText(collection, record, other)
  }
  switch (entry.kind) {
    case 'rooms': {
      const record = placed('rooms', entry.record.room_id, entry.record)
      const devices = entry.devices.map((device) => placed('devices', device.userId, device))
      const same = record === entry.record && devices.every((device, index) => device === entry.devices[index])
      return same ? entry : { ...entry, record, devices }
    }
    case 'devices': {
      const record = placed('devices', entry.record.userId, entry.record)
      return record === entry.record ? entry : { ...entry, record }
    }
    case 'credentials': {
      const record = placed('credentials', entry.record.access_key, entry.record)
      return record === entry.record ? entry : { ...entry, record }
    }
    case 'nodes': {
      const record = placed('nodes', entry.record.name, entry.record)
      return record === entry.record ? entry : { ...entry, record }
    }
    case 'wall_views':
      return entry
  }
}
