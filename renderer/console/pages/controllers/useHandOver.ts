import { computed, ref, shallowRef, watch } from 'vue'
import type { ControllerView } from '../../../../shared/console/controllers.ts'
import { sharedState } from '../../composables/useConsole.ts'
import { useControllers } from '../../composables/site.ts'
import { CallError } from '../../../kit/transport/transport.ts'

/** Time without another leader after which a change counts as failed, in milliseconds. */
const longest = 15_000

/** A manual change of leader: requested, in progress, or finished. */
export interface HandOver {
  id: string
  name: string
  state: 'working' | 'done' | 'failed' | 'late'
  /** Duration in milliseconds; 0 while in progress. */
  took: number
  /** Reason of a failure. */
  error: unknown
}

/** Maximum duration of a change of leader, in seconds. */
export const maxSeconds = longest / 1_000

/**
 * Makes another controller the leader. The old leader closes its consoles meanwhile, so a lost answer is expected: the
 * new leader shows the result.
 */
export const useHandOver = sharedState((client) => {
  const { leader, refresh } = useControllers()
  const under = shallowRef<HandOver>()
  const begun = ref(0)
  let timer = 0

  function end(state: HandOver['state'], error?: unknown): void {
    if (under.value?.state !== 'working') return
    clearTimeout(timer)
    under.value = { ...under.value, state, error, took: performance.now() - begun.value }
  }

  watch(leader, (now) => {
    if (now !== undefined && now.id === under.value?.id) end('done')
  })

  async function lead({ id, name }: Pick<ControllerView, 'id' | 'name'>): Promise<void> {
    begun.value = performance.now()
    under.value = { id, name, state: 'working', took: 0, error: undefined }
    clearTimeout(timer)
    timer = window.setTimeout(() => end('late'), longest)
    try {
      await client.call('controllers.lead', { id })
      end('done')
      await refresh()
    } catch (error) {
      const isLost = error instanceof CallError && (error.code === 'offline' || error.code === 'timeout')
      if (!isLost) end('failed', error)
    }
  }

  return {
    /** The latest change of leader, until it is dismissed; undefined: none. */
    handOver: under,
    working: computed(() => under.value?.state === 'working'),
    lead,
    dismiss(): void {
      under.value = undefined
    },
  }
})
