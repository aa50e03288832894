import { sharedState } from './useConsole.ts'
import { useReading } from '../live/useReading.ts'

/** Every operation of both APIs, as the controller lists them. */
export const useOperations = sharedState(() => useReading('tester.operations'))
