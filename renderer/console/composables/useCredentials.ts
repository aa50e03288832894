import { sharedState } from './useConsole.ts'
import { useLive } from '../../kit/composables/useLive.ts'

/** Every credential, without secrets. */
export const useCredentials = sharedState((client) => {
  const credentials = useLive(client, () => client.call('credentials.list'))
  client.on('credentials.changed', ({ items }) => {
    credentials.value.value = items
  })
  return credentials
})
