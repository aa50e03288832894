import { computed } from 'vue'
import type { DeviceRule, FaultInForce, NodeTrouble, WantedFault } from '../../../../shared/console/lab.ts'
import { useCaller } from '../../composables/site.ts'
import { sharedState } from '../../composables/useConsole.ts'
import { useReading } from '../../live/useReading.ts'

/** Current simulated faults, and their controls. Actions reject with a CallError if refused. */
export const useLab = sharedState((client) => {
  const state = useReading('lab.state')
  const faults = useReading('lab.faults')
  const { may } = useCaller()

  const nodesTroubled = computed(() =>
    (state.value.value?.nodes ?? []).some(({ mode, device_rules }) => mode !== 'none' || device_rules.length > 0),
  )
  const clientsTroubled = computed(
    () => (state.value.value?.store_stalled ?? false) || (faults.value.value?.length ?? 0) > 0,
  )
  const troubled = computed(() => nodesTroubled.value || clientsTroubled.value)
  /** Whether there are faults that this caller may end. Only admins may end those that affect real clients. */
  const ending = computed(() => nodesTroubled.value || (clientsTroubled.value && may('lab.set_faults')))

  async function setTrouble(name: string, mode: NodeTrouble, delay_ms: number): Promise<void> {
    await client.call('lab.node_trouble', { name, mode, delay_ms })
    await state.refresh()
  }

  /** Changes the rules as they are now: another operator may have changed them since the page read them. */
  async function changeFaults(change: (now: readonly FaultInForce[]) => WantedFault[]): Promise<void> {
    const rules = change(await client.call('lab.faults'))
    faults.value.value = await client.call('lab.set_faults', { rules })
  }

  /** Changes the device rules of a simulated node as they are now. */
  async function changeDeviceRules(name: string, change: (now: readonly DeviceRule[]) => DeviceRule[]): Promise<void> {
    const { nodes } = await client.call('lab.state')
    const now = nodes.find((one) => one.name === name)?.device_rules ?? []
    await client.call('lab.device_trouble', { name, rules: change(now) })
    await state.refresh()
  }

  async function stall(stalled: boolean): Promise<void> {
    await client.call('lab.stall_store', { stalled })
    await state.refresh()
  }

  async function endAll(): Promise<void> {
    if (may('lab.stall_store')) await client.call('lab.stall_store', { stalled: false })
    if (may('lab.set_faults')) await changeFaults(() => [])
    for (const { name, mode, device_rules } of state.value.value?.nodes ?? []) {
      if (mode !== 'none') await client.call('lab.node_trouble', { name, mode: 'none' })
      if (device_rules.length > 0) await client.call('lab.device_trouble', { name, rules: [] })
    }
    await state.refresh()
  }

  return { state, faults, troubled, ending, setTrouble, changeFaults, changeDeviceRules, stall, endAll }
})

/** Returns the number in a field; NaN for an empty field, which `Number` would convert to 0. */
export function enteredNumber(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text)
}
