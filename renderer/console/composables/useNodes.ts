import { computed } from 'vue'
import { sharedState } from './useConsole.ts'
import { useLive } from '../../kit/composables/useLive.ts'

/** Every MCU node with its state and load. */
export const useNodes = sharedState((client) => {
  const nodes = useLive(client, () => client.call('nodes.list'))
  client.on('nodes.changed', ({ items }) => {
    nodes.value.value = items
  })
  /** Names of the simulated nodes: with at least one, the lab is available. */
  const simulated = computed(
    () => nodes.value.value?.filter((node) => node.config.kind === 'simulated').map((node) => node.config.name) ?? [],
  )
  return { ...nodes, simulated }
})
