import { useReading } from '../live/useReading.ts'
import { sharedState } from './useConsole.ts'

/** Every credential, without secrets. */
export const useCredentials = sharedState(() =>
  useReading('credentials.list', {}, { updates: { 'credentials.changed': (_before, { items }) => items } }),
)
