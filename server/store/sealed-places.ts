import type { SealedPlace } from './sealer.ts'
import type { CollectionName } from './store.ts'

/** Field of each collection that holds a sealed text; empty: the record has no secret. */
const sealedFields = {
  credentials: 'secret_key_sealed',
  nodes: 'secrets_sealed',
  devices: 'login_password_sealed',
  rooms: 'host_password_sealed',
  accounts: 'password_sealed',
} as const satisfies Partial<Record<CollectionName, string>>

/** Collections whose records hold a sealed text. */
export type SealedCollection = keyof typeof sealedFields

/** Place of the secret of a record. */
export function placeOf(collection: SealedCollection, key: string): SealedPlace {
  return [collection, key, sealedFields[collection]]
}

/** Place of the credential of a TURN server: it is sent to these addresses only. */
export function iceServerPlace(urls: unknown): SealedPlace {
  return ['settings', 'site', 'media.ice_servers', JSON.stringify(urls)]
}

/** Place of the media tickets of one node; they are kept by pages, not stored. */
export function ticketPlace(node: string): SealedPlace {
  return ['media ticket', node]
}

/** Every collection whose records hold a sealed text. */
export const sealedCollections = Object.keys(sealedFields) as readonly SealedCollection[]

/** Sealed text of a record; empty: it has none. */
export function sealedTextOf(collection: SealedCollection, record: object): string {
  const text: unknown = Reflect.get(record, sealedFields[collection])
  return typeof text === 'string' ? text : ''
}

/** The record with another sealed text. */
export function withSealedText<R extends object>(collection: SealedCollection, record: R, text: string): R {
  return { ...record, [sealedFields[collection]]: text }
}
