import { computed, onScopeDispose, ref, shallowRef } from 'vue'
import type { ProcedureInput, ProcedureOutput } from '../../../../shared/console/contract.ts'
import type { DeviceErrorKind } from '../../../../shared/device.ts'
import { useConsole } from '../../composables/useConsole.ts'

export type ProbeResult = ProcedureOutput<'devices.probe'>
export type ProbeInput = ProcedureInput<'devices.probe'>

/** Result of one check of a probe: passed, failed, or not reached. */
export type ProbeAnswer = 'ok' | 'bad' | 'unknown'

/** The three checks of a probe, in the order of the connection. */
export const probeQuestions = ['reach', 'login', 'stream'] as const
export type ProbeQuestion = (typeof probeQuestions)[number]

/** Failures that end the probe at each check; earlier checks have passed. */
const endsAt: Readonly<Record<ProbeQuestion, readonly DeviceErrorKind[]>> = {
  reach: ['refused', 'unreachable', 'timeout', 'protocol', 'certificate', 'forbidden', 'oldTls', 'redirected'],
  login: ['auth'],
  stream: ['noUsableTrack', 'rejected', 'noTransport', 'srtp', 'stalled'],
}

/**
 * Returns the result of each check. If the path is wrong, the login is unknown, because some cameras check the path
 * first.
 */
export function probeAnswers({ ok, kind, simulated }: ProbeResult): Record<ProbeQuestion, ProbeAnswer> {
  if (simulated) return { reach: 'unknown', login: 'unknown', stream: 'unknown' }
  if (ok) return { reach: 'ok', login: 'ok', stream: 'ok' }
  if (kind === 'notFound' || kind === 'closed') return { reach: 'ok', login: 'unknown', stream: 'bad' }
  const at = probeQuestions.findIndex((question) => kind !== null && endsAt[question].includes(kind))
  const answer = (index: number): ProbeAnswer => (index < at ? 'ok' : index === at ? 'bad' : 'unknown')
  return { reach: answer(0), login: answer(1), stream: answer(2) }
}

/** Runs one probe at a time. A new one removes the previous result. */
export function useProbe() {
  const client = useConsole()
  const phase = ref<'idle' | 'running' | 'done' | 'failed' | 'cancelled'>('idle')
  const result = shallowRef<ProbeResult | null>(null)
  const error = shallowRef<unknown>(null)
  /** Device of the last probe. */
  const source = shallowRef<ProbeInput | null>(null)
  const startedAt = ref(0)
  let generation = 0

  async function run(input: ProbeInput): Promise<void> {
    const mine = ++generation
    phase.value = 'running'
    result.value = null
    error.value = null
    source.value = input
    startedAt.value = Date.now()
    try {
      const answer = await client.call('devices.probe', input)
      if (mine !== generation) return
      result.value = answer
      phase.value = 'done'
    } catch (reason) {
      if (mine !== generation) return
      error.value = reason
      phase.value = 'failed'
    }
  }

  /** Stops waiting for the probe, which ends at the controller's own timeout. */
  function cancel(): void {
    if (phase.value !== 'running') return
    generation++
    phase.value = 'cancelled'
  }

  function forget(): void {
    generation++
    phase.value = 'idle'
    result.value = null
    error.value = null
  }

  onScopeDispose(() => generation++)
  return {
    phase,
    result,
    error,
    source,
    startedAt,
    running: computed(() => phase.value === 'running'),
    run,
    cancel,
    forget,
  }
}
