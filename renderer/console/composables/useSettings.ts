import { useReading } from '../live/useReading.ts'
import { sharedState } from './useConsole.ts'

/** All settings, as stored by the controller. */
export const useSettings = sharedState(() => useReading('settings.get'))
