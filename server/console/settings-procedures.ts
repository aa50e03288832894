import { hideSecrets, type Settings } from '../../shared/settings.ts'
import { versionIn } from '../store/edits/record-version.ts'
import { siteSettings } from '../store/site-settings.ts'
import type { AppliedSettings, SettingsDependencies } from './applied-settings.ts'
import type { ProcedureHandlers } from './handlers.ts'

type Names = 'settings.get' | 'settings.check' | 'settings.set' | 'listeners.restart'

export function settingsHandlers(
  { store, listeners }: Pick<SettingsDependencies, 'store' | 'listeners'>,
  applied: AppliedSettings,
): ProcedureHandlers<Names> {
  const view = (settings: Settings) => ({
    ...hideSecrets(settings),
    version: versionIn(store, { kind: 'settings', key: 'site' }),
  })
  return {
    'settings.get': () => view(siteSettings(store)),
    'settings.check': (patch) => applied.check(patch),
    'settings.set': async ({ version: _, ...patch }) => view(await applied.change(patch)),
    'listeners.restart': async () => {
      await listeners.restart(siteSettings(store).deadlines.shutdown_ms)
      return listeners.views()
    },
  }
}
