import { defaultSettings, mergeSettings, type Settings } from '../../shared/settings.ts'
import type { Store } from './store.ts'

/** Settings as they were stored, with what they are now. */
const completed = new WeakMap<Settings, Settings>()

/** The settings in force. Those that an earlier version stored get the parts that it did not know; costs nothing after the first time. */
export function siteSettings(store: Pick<Store, 'get'>): Settings {
  const stored = store.get('settings', 'site')
  if (stored === undefined) return defaultSettings()
  let settings = completed.get(stored)
  if (settings === undefined) {
    settings = 'media' in stored ? stored : mergeSettings(stored, {})
    completed.set(stored, settings)
  }
  return settings
}
