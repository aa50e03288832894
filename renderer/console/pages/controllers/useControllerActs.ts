import type { ControllerView } from '../../../../shared/console/controllers.ts'
import type { MenuItem } from '../../../kit/menu/menu-items.ts'
import { useCaller, useControllers } from '../../composables/site.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useFormat } from '../../composables/useFormat.ts'
import { useText } from '../../i18n/text.ts'
import { computed, shallowRef, watch } from 'vue'
import { sharedState } from '../../composables/useConsole.ts'
import { CallError } from '../../../kit/transport/transport.ts'

/** Actions on a controller: make it the leader, after explaining the consequences. */
export function useControllerActs() {
  const { may } = useCaller()
  const { t } = useText()
  const { number } = useFormat()
  const { ask } = useFeedback()
  const { leader, database } = useControllers()
  const { lead, working } = useHandOver()

  function acts({ role, gone }: ControllerView): MenuItem[] {
    if (!may('controllers.lead') || role === 'leader' || gone || leader.value === undefined) return []
    const disabled = working.value || (database.value?.away_since ?? 0) > 0
    return [{ key: 'lead', text: t('controllers.lead.act'), icon: 'check', disabled }]
  }

  async function run(chosen: ControllerView): Promise<void> {
    const { name, behind } = chosen
    const now = leader.value?.name ?? ''
    const yes = await ask({
      title: t('controllers.lead.title', { name }),
      body: t('controllers.lead.body', { name, leader: now }),
      losses: [
        t('controllers.lead.changes'),
        t('controllers.lead.people'),
        t('controllers.lead.consoles', { leader: now }),
        ...(behind > 0 ? [t('controllers.lead.behind', { name, n: behind, count: number(behind) })] : []),
      ],
      action: t('controllers.lead.act'),
      harmless: true,
    })
    if (yes) await lead(chosen)
  }

  return { acts, run }
}

/** Returns the state of a controller; a missing controller has no role. */
export function stateOf({ gone, role }: ControllerView): 'gone' | 'leader' | 'standby' {
  return gone ? 'gone' : role
}

export const stateTone = { leader: 'ok', standby: 'idle', gone: 'bad' } as const

/** Time without another leader after which a change counts as failed, in milliseconds. */
const longest = 15_000

/** A manual change of leader: requested, in progress, or finished. */
interface HandOver {
  id: string
  name: string
  state: 'working' | 'done' | 'failed' | 'late'
  /** Duration in milliseconds; 0 while in progress. */
  took: number
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
  let begun = 0
  let timer = 0

  function end(state: HandOver['state'], error?: unknown): void {
    if (under.value?.state !== 'working') return
    clearTimeout(timer)
    under.value = { ...under.value, state, error, took: performance.now() - begun }
  }

  watch(leader, (now) => {
    if (now !== undefined && now.id === under.value?.id) end('done')
  })

  async function lead({ id, name }: Pick<ControllerView, 'id' | 'name'>): Promise<void> {
    begun = performance.now()
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
