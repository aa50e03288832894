import { ref } from 'vue'
import { useRouter } from 'vue-router'
import type { ProcedureInput } from '../../../../shared/console/contract.ts'
import type { FirstRunStep } from '../../../../shared/first-run.ts'
import { CallError } from '../../../kit/transport/transport.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { problemText, useFeedback } from '../../composables/useFeedback.ts'
import { useSettings } from '../../composables/site.ts'
import { useText } from '../../i18n/text.ts'
import { useConsoleMove } from '../settings/useConsoleMove.ts'
import { useFirstRun } from './useFirstRun.ts'

/**
 * Applies settings that restart ports, and continues. If the console's own port changes, the page opens its new
 * address.
 */
export function useMoved() {
  const client = useConsole()
  const router = useRouter()
  const { t } = useText()
  const { errorText } = useFeedback()
  const { value: settings } = useSettings()
  const { refresh, go, step } = useFirstRun()
  const moveAlong = useConsoleMove()
  const busy = ref(false)
  /** Reason why nothing was changed; empty: no failure. */
  const failure = ref('')
  /** A flag overrides the settings: the latest change had no effect. */
  const fixed = ref(false)

  /**
   * Tests the change, saves the next step, applies the change, and opens that step.
   * @param mustMove the change restarts a port, unless a flag overrides it
   */
  async function apply(patch: ProcedureInput<'settings.set'>, to: FirstRunStep, mustMove = true): Promise<void> {
    busy.value = true
    fixed.value = false
    failure.value = ''
    try {
      const { ok, problems, restarts } = await client.call('settings.check', patch)
      if (!ok) throw new CallError('invalid', problems[0]?.message ?? '', problems)
      fixed.value = mustMove && restarts.length === 0
      if (fixed.value) return
      // Saved first, because a page at a new address continues with the saved step.
      await client.call('first_run.save', { step: to })
      const saved = await client.call('settings.set', patch)
      settings.value = saved
      if (client.kind === 'websocket' && restarts.includes('console')) {
        // The old port closes soon: from now on, only the new address is requested.
        await router.replace(`/welcome/${to}`)
        await moveAlong(saved.listeners.host)
      } else {
        await refresh()
        await go(to)
      }
    } catch (error) {
      failure.value = reasonOf(error)
      // The first error is shown; errors of this call are ignored.
      await client.call('first_run.save', { step: step.value }).catch(() => undefined)
    } finally {
      busy.value = false
    }
  }

  function reasonOf(error: unknown): string {
    const [problem] = error instanceof CallError ? error.problems : []
    return problem === undefined ? errorText(error) : problemText(problem, t)
  }

  return { apply, busy, failure, fixed }
}
