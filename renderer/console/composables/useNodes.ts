import { computed } from 'vue'
import { sharedState } from './useConsole.ts'
import { useReading } from '../live/useReading.ts'

/** Every MCU node with its state and load. */
export const useNodes = sharedState(() => {
  const nodes = useReading('nodes.list', {}, { updates: { 'nodes.changed': (_before, { items }) => items } })
  /** Names of the simulated nodes. The lab is available if there is at least one. */
  const simulated = computed(
    () => nodes.value.value?.filter((node) => node.config.kind === 'simulated').map((node) => node.config.name) ?? [],
  )
  return { ...nodes, simulated }
})
