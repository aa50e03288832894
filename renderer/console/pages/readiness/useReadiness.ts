import { computed, ref, shallowReactive } from 'vue'
import type { ProcedureOutput } from '../../../../shared/console/contract.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useEvent } from '../../live/useEvent.ts'
import { useReading } from '../../live/useReading.ts'

type Result = ProcedureOutput<'readiness.run'>['results'][number]
type Check = Result['check']

/** Checks decided by the visit of another device. */
const ofPhone: readonly Check[] = ['phone', 'firewall']

/**
 * Runs the checks of the machine. Each result is shown as soon as it arrives; a new run keeps the previous results
 * until then.
 */
export function useReadiness() {
  const client = useConsole()
  const results = shallowReactive(new Map<Check, Result>())
  const failures = shallowReactive(new Map<Check, unknown>())
  const running = shallowReactive(new Set<Check>())
  /** Difference of this browser's clock to the machine's, and its uncertainty, in milliseconds. */
  const drift = ref<{ offset: number; uncertainty: number } | null>(null)
  const list = useReading('readiness.checks', {}, { read })

  async function read(): Promise<ProcedureOutput<'readiness.checks'>> {
    const asked = Date.now()
    const listed = await client.call('readiness.checks')
    const answered = Date.now()
    drift.value = { offset: (asked + answered) / 2 - listed.at, uncertainty: (answered - asked) / 2 }
    void run(listed.checks)
    return listed
  }

  async function run(checks: readonly Check[]): Promise<void> {
    await Promise.all(checks.filter((check) => !running.has(check)).map(runOne))
  }

  async function runOne(check: Check): Promise<void> {
    running.add(check)
    try {
      const { results: found } = await client.call('readiness.run', { checks: [check] })
      for (const result of found) results.set(check, result)
      failures.delete(check)
    } catch (error) {
      failures.set(check, error)
    } finally {
      running.delete(check)
    }
  }

  useEvent(
    'readiness.phone_arrived',
    () => void run(ofPhone.filter((check) => list.value.value?.checks.includes(check))),
  )
  const checks = computed(() => list.value.value?.checks ?? [])
  return {
    checks,
    results,
    failures,
    running,
    drift,
    machine: computed(() => list.value.value?.machine ?? ''),
    error: list.error,
    checkAgain: list.refresh,
  }
}
