import { sharedState } from './useConsole.ts'
import { useLive } from '../../kit/composables/useLive.ts'

/** All settings, as stored by the controller. */
export const useSettings = sharedState((client) => {
  const settings = useLive(client, () => client.call('settings.get'))
  client.on('settings.changed', () => void settings.refresh())
  return settings
})
