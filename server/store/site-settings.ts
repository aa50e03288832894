import { completeSettings, defaultSettings, type Settings } from '../../shared/settings.ts'
import type { StoredIceServer, StoredSettings } from './records.ts'
import type { Sealer } from './sealer.ts'
import type { Store, Transaction } from './store.ts'

/** Settings as they were stored, with what they are now. */
const completed = new WeakMap<StoredSettings, Settings>()

/**
 * The settings in force, with the secrets among them. Those that an earlier version stored get the fields that it did not know; costs nothing after the first time.
 * A secret that was sealed with another key counts as none: the site runs on without its TURN servers.
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

/** Stores settings, their secrets sealed. */
export function putSettings(transaction: Transaction, settings: Settings, sealer: Pick<Sealer, 'seal'>): void {
  const ice_servers = settings.media.ice_servers.map(
    ({ credential, ...server }): StoredIceServer => ({ ...server, credential_sealed: sealed(credential, sealer) }),
  )
  transaction.put('settings', 'site', { ...settings, media: { ...settings.media, ice_servers } })
}

/** Settings with every credential sealed that an earlier version stored in the clear; undefined when there is none. `settings` is a document as it was read. */
export function withoutClearSecrets(settings: unknown, sealer: Pick<Sealer, 'seal'>): StoredSettings | undefined {
  const servers = iceServersOf(settings)
  if (!servers.some((server) => 'credential' in server)) return undefined
  const ice_servers = servers.map(({ credential, ...server }) =>
    typeof credential === 'string' ? { ...server, credential_sealed: sealed(credential, sealer) } : server,
  )
  const { media, ...others } = settings as StoredSettings
  return { ...others, media: { ...media, ice_servers: ice_servers as unknown as StoredIceServer[] } }
}

function openSettings(stored: StoredSettings, sealer: Pick<Sealer, 'unseal'>): Settings {
  const ice_servers = iceServersOf(stored).map(({ credential_sealed, ...server }) =>
    typeof credential_sealed === 'string' ? { ...server, credential: opened(credential_sealed, sealer) } : server,
  )
  return completeSettings({ ...stored, media: { ...stored.media, ice_servers } })
}

function sealed(secret: string, sealer: Pick<Sealer, 'seal'>): string {
  return secret === '' ? '' : sealer.seal(secret)
}

function opened(text: string, sealer: Pick<Sealer, 'unseal'>): string {
  if (text === '') return ''
  try {
    return sealer.unseal(text)
  } catch {
    return ''
  }
}

/** The ICE servers of a document that was read; none where it has none. */
function iceServersOf(settings: unknown): Record<string, unknown>[] {
  if (typeof settings !== 'object' || settings === null || !('media' in settings)) return []
  const { media } = settings
  if (typeof media !== 'object' || media === null || !('ice_servers' in media)) return []
  const servers: unknown[] = Array.isArray(media.ice_servers) ? media.ice_servers : []
  return servers.filter((server): server is Record<string, unknown> => typeof server === 'object' && server !== null)
}
