import { ref } from 'vue'
import { useRouter } from 'vue-router'
import type { ProcedureInput } from '../../../../shared/console/contract.ts'
import type { FirstRunStep } from '../../../../shared/first-run.ts'
import { CallError } from '../../../kit/transport/transport.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useSettings } from '../../composables/useSettings.ts'
import { useText } from '../../i18n/text.ts'
import { problemText } from '../../composables/refusalText.ts'
import { useConsoleMove } from '../settings/useConsoleMove.ts'
import { useFirstRun } from './useFirstRun.ts'

/** Applies settings that restart ports, and goes on; the page follows where its own port moved. */
export function useMoved() {
  const client = useConsole()
  const router = useRouter()
  const { t } = useText()
  const { errorText } = useFeedback()
  const { value: settings } = useSettings()
  const { refresh, go, step } = useFirstRun()
  const moveAlong = useConsoleMove()
  const busy = ref(false)
  /** Why nothing was changed; empty: nothing failed. */
  const failure = ref('')

  /**
   * Tests the change, remembers the step that follows, applies the change, and goes there.
   * @param mustMove a change that restarts no port has no effect: a flag fixes what it sets
   */
  async function apply(
    patch: ProcedureInput<'settings.set'>,
    to: FirstRunStep,
    mustMove = true,
  ): Promise<'done' | 'failed' | 'fixed'> {
    busy.value = true
    failure.value = ''
    try {
      const { ok, problems, restarts } = await client.call('settings.check', patch)
      if (!ok) throw new CallError('invalid', problems[0]?.message ?? '', problems)
      if (mustMove && restarts.length === 0) return 'fixed'
      // Remembered first: a page that moves to another address continues there.
      await client.call('first_run.save', { step: to })
      const saved = await client.call('settings.set', patch)
      settings.value = saved
      if (client.kind === 'websocket' && restarts.includes('console')) {
        // The old port ends within moments: nothing is asked there any more but the new address.
        await router.replace(`/welcome/${to}`)
        await moveAlong(saved.listeners.host)
      } else {
        await refresh()
        await go(to)
      }
      return 'done'
    } catch (error) {
      failure.value = reasonOf(error)
      // The first error is shown.
      await client.call('first_run.save', { step: step.value }).catch(() => undefined)
      return 'failed'
    } finally {
      busy.value = false
    }
  }

  function reasonOf(error: unknown): string {
    const [problem] = error instanceof CallError ? error.problems : []
    return problem === undefined ? errorText(error) : problemText(problem, t)
  }

  return { apply, busy, failure }
}
