import { sharedState } from './useConsole.ts'
import { useLive } from '../../kit/composables/useLive.ts'

/** Every setting, as the controller has it. */
export const useSettings = sharedState((client) => {
  const settings = useLive(client, () => client.call('settings.get'))
  client.on('settings.changed', () => void settings.refresh())
  return settings
})
