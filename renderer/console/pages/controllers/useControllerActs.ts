import type { ControllerView } from '../../../../shared/console/controllers.ts'
import type { MenuItem } from '../../../kit/menu/AppMenu.vue'
import { useCaller } from '../../composables/useCaller.ts'
import { useControllers } from '../../composables/site.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useFormat } from '../../composables/useFormat.ts'
import { useText } from '../../i18n/text.ts'
import { useHandOver } from './useHandOver.ts'

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
