import { completeSettings, defaultSettings, type Settings } from '../../shared/settings.ts'
import type { StoredIceServer, StoredSettings } from './records.ts'
import { iceServerPlace, objectStoragePlace, sealedCollections } from './sealed-places.ts'
import type { SealedPlace } from './sealer.ts'
import { cannotOpen, isOutdated, isPlaceless, type Sealer } from './sealer.ts'
import type { State } from './state.ts'
import type { Store, Transaction } from './store.ts'

/** Cache of complete settings, by the stored settings from which they were made. */
const completed = new WeakMap<StoredSettings, Settings>()

/**
 * Returns the settings in force, with their secrets opened. Settings of an earlier version get the defaults of new
 * fields. The result is cached.
 * A secret that was sealed with another key counts as missing: the site continues without its TURN servers.
 */
export function siteSettings(store: Pick<Store, 'get' | 'unseal'>): Settings {
  const stored = store.get('settings', 'site')
  if (stored === undefined) return defaultSettings()
  let settings = completed.get(stored)
  if (settings === undefined) {
    settings = openSettings(stored, store)
    completed.set(stored, settings)
  }
  return settings
}

/** Stores settings and seals their secrets. If a secret is unchanged, its sealed text stays the same. */
export function putSettings(
  transaction: Transaction,
  settings: Settings,
  store: Pick<Store, 'get' | 'all' | 'seal' | 'unseal'>,
): void {
  const before = store.get('settings', 'site')
  const ice_servers = settings.media.ice_servers.map(
    ({ credential, ...server }): StoredIceServer => ({
      ...server,
      credential_sealed: kept(iceServersOf(before), server, credential, store) ?? sealed(server, credential, store),
    }),
  )
  const mark = isEmpty(store) ? sealedMarks : marksOf(before)
  const { secret_access_key: secret, ...storage } = settings.object_storage
  const place = objectStoragePlace(storage)
  const old = before?.object_storage?.secret_sealed ?? ''
  const isKept = secret !== '' && unsealed(old, place, store) === secret
  const secret_sealed = secret === '' ? '' : isKept ? old : store.seal(secret, place)
  transaction.put('settings', 'site', {
    ...settings,
    ...mark,
    media: { ...settings.media, ice_servers },
    object_storage: { ...storage, secret_sealed },
  })
}

/** Marks of a site whose secrets are all sealed for their places and addresses. */
export const sealedMarks = { sealed_for_places: true, sealed_for_addresses: true } as const

function marksOf(settings: StoredSettings | undefined): Partial<typeof sealedMarks> {
  return {
    ...(settings?.sealed_for_places && { sealed_for_places: true }),
    ...(settings?.sealed_for_addresses && { sealed_for_addresses: true }),
  }
}

/** Whether every secret of a site is sealed for its place, and for the address to which it is sent. */
export function isSealedForPlaces(site: Pick<Store, 'get'>): boolean {
  return site.get('settings', 'site')?.sealed_for_addresses === true
}

/** Removes the marks from a recovered state: texts without a place are then accepted until they are resealed. */
export function unmarkSealed(state: Pick<State, 'settings'>): void {
  const settings = state.settings.get('site')
  if (settings?.sealed_for_places === undefined) return
  const { sealed_for_places: _, sealed_for_addresses: __, ...unmarked } = settings
  state.settings.set('site', unmarked)
}

/** Opens a sealed text of a site. @throws ApiError 'internal', like Store.unseal */
export function unsealIn(
  site: Pick<Store, 'get'>,
  sealer: Pick<Sealer, 'unseal'>,
  text: string,
  place: SealedPlace,
): string {
  const settings = site.get('settings', 'site')
  if (isPlaceless(text) && settings?.sealed_for_places) throw cannotOpen()
  if (isOutdated(text, place) && settings?.sealed_for_addresses) throw cannotOpen()
  return sealer.unseal(text, place)
}

/** Whether the site is new, so it has no secrets of an earlier version. */
function isEmpty(store: Pick<Store, 'get' | 'all'>): boolean {
  return store.get('settings', 'site') === undefined && sealedCollections.every((name) => store.all(name).size === 0)
}

/**
 * Returns settings whose credentials are sealed for their places; the same object if nothing changes. A credential that
 * cannot be unsealed stays unchanged.
 */
export function withPlacedSecrets(stored: StoredSettings, sealer: Pick<Sealer, 'reseal'>): StoredSettings {
  const settings = withPlacedStorage(stored, sealer)
  const servers = iceServersOf(settings)
  const placed = servers.map((server) => {
    const { credential_sealed: text, urls } = server
    if (typeof text !== 'string' || !isPlaceless(text)) return server
    return { ...server, credential_sealed: resealed(text, iceServerPlace(urls), sealer) }
  })
  const same = placed.every((server, index) => server.credential_sealed === servers[index]?.credential_sealed)
  if (same) return settings
  return { ...settings, media: { ...settings.media, ice_servers: placed as unknown as StoredIceServer[] } }
}

function withPlacedStorage(settings: StoredSettings, sealer: Pick<Sealer, 'reseal'>): StoredSettings {
  const { object_storage: storage } = settings
  // A document of an earlier version may lack any field.
  const text: unknown = storage?.secret_sealed
  const place = objectStoragePlace(storage ?? {})
  if (storage === undefined || typeof text !== 'string' || !isOutdated(text, place)) return settings
  return { ...settings, object_storage: { ...storage, secret_sealed: resealed(text, place, sealer) } }
}

/** Reseals a text for its place; returns the text unchanged if it cannot be unsealed. */
export function resealed(text: string, place: SealedPlace, sealer: Pick<Sealer, 'reseal'>): string {
  try {
    return sealer.reseal(text, place)
  } catch {
    // The text was sealed with another key: unsealing it later reports the error.
    return text
  }
}

/**
 * Returns settings with every clear-text credential of an earlier version sealed; undefined: no such credential.
 * `settings` is an unvalidated document.
 */
export function withoutClearSecrets(settings: unknown, sealer: Pick<Sealer, 'seal'>): StoredSettings | undefined {
  const servers = iceServersOf(settings)
  if (!servers.some((server) => 'credential' in server)) return undefined
  const ice_servers = servers.map(({ credential, ...server }) =>
    typeof credential === 'string' ? { ...server, credential_sealed: sealed(server, credential, sealer) } : server,
  )
  const { media, ...others } = settings as StoredSettings
  return { ...others, media: { ...media, ice_servers: ice_servers as unknown as StoredIceServer[] } }
}

function openSettings(
  { sealed_for_places: _, sealed_for_addresses: __, ...stored }: StoredSettings,
  sealer: Pick<Sealer, 'unseal'>,
): Settings {
  const ice_servers = iceServersOf(stored).map(({ credential_sealed, ...server }) =>
    typeof credential_sealed === 'string'
      ? { ...server, credential: opened(server, credential_sealed, sealer) }
      : server,
  )
  const object_storage = openStorage(stored.object_storage, sealer)
  return completeSettings({ ...stored, media: { ...stored.media, ice_servers }, object_storage })
}

/** Returns the object storage with its secret opened; undefined in settings of an earlier version. */
function openStorage(stored: StoredSettings['object_storage'], sealer: Pick<Sealer, 'unseal'>): unknown {
  if (stored === undefined) return undefined
  const { secret_sealed, ...storage } = stored
  return {
    ...storage,
    networks: storage.networks ?? networksBefore(storage.endpoint),
    secret_access_key: unsealed(secret_sealed, objectStoragePlace(storage), sealer),
  }
}

/**
 * Returns the permitted networks of an object storage whose settings lack them (earlier versions). A storage on this
 * machine stays permitted.
 */
function networksBefore(endpoint: string): string[] {
  const host = URL.parse(endpoint)?.hostname ?? ''
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(host) ? ['127.0.0.0/8', '::1'] : []
}

function sealed({ urls }: { urls?: unknown }, secret: string, sealer: Pick<Sealer, 'seal'>): string {
  return secret === '' ? '' : sealer.seal(secret, iceServerPlace(urls))
}

/** Returns the existing sealed text of the same credential; undefined: none. */
function kept(
  before: readonly Record<string, unknown>[],
  { urls }: { urls?: unknown },
  secret: string,
  sealer: Pick<Sealer, 'unseal'>,
): string | undefined {
  const texts = before.flatMap(({ credential_sealed }) =>
    typeof credential_sealed === 'string' && credential_sealed !== '' ? [credential_sealed] : [],
  )
  return secret === '' ? undefined : texts.find((text) => unsealed(text, iceServerPlace(urls), sealer) === secret)
}

function opened({ urls }: { urls?: unknown }, text: string, sealer: Pick<Sealer, 'unseal'>): string {
  return unsealed(text, iceServerPlace(urls), sealer)
}

/** Opens a sealed text; returns an empty string if it is empty or sealed with another key. */
function unsealed(text: string, place: SealedPlace, sealer: Pick<Sealer, 'unseal'>): string {
  if (text === '') return ''
  try {
    return sealer.unseal(text, place)
  } catch {
    // Sealed with another key.
    return ''
  }
}

/** Returns the ICE servers of an unvalidated document; empty if it has none. */
function iceServersOf(settings: unknown): Record<string, unknown>[] {
  if (typeof settings !== 'object' || settings === null || !('media' in settings)) return []
  const { media } = settings
  if (typeof media !== 'object' || media === null || !('ice_servers' in media)) return []
  const servers: unknown[] = Array.isArray(media.ice_servers) ? media.ice_servers : []
  return servers.filter((server): server is Record<string, unknown> => typeof server === 'object' && server !== null)
}
