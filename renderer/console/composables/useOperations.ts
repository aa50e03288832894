import { sharedState } from './useConsole.ts'
import { useLive } from '../../kit/composables/useLive.ts'

/** Every operation of both APIs, as the controller lists them. */
export const useOperations = sharedState((client) => useLive(client, () => client.call('tester.operations')))
