import { ref, shallowRef } from 'vue'
import type { ProcedureOutput } from '../../../../../shared/console/contract.ts'
import { useConsole } from '../../../composables/useConsole.ts'

/** A search for cameras on the controller's networks. The result stays until the next search. */
export function useCameraSearch() {
  const client = useConsole()
  const result = shallowRef<ProcedureOutput<'devices.discover'>>()
  const error = shallowRef<unknown>(null)
  const loading = ref(false)

  /** Starts a search, unless one is in progress. */
  async function search(): Promise<void> {
    if (loading.value) return
    loading.value = true
    try {
      result.value = await client.call('devices.discover')
      error.value = null
    } catch (reason) {
      result.value = undefined
      error.value = reason
    } finally {
      loading.value = false
    }
  }

  return { result, error, loading, search }
}

export type CameraSearch = ReturnType<typeof useCameraSearch>
