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

/** Check at which a failure ends the probe; earlier ones have passed. */
const endsAt: Partial<Record<DeviceErrorKind, ProbeQuestion>> = {
  refused: 'reach',
  unreachable: 'reach',
  timeout: 'reach',
  protocol: 'reach',
  certificate: 'reach',
  forbidden: 'reach',
  oldTls: 'reach',
  redirected: 'reach',
  auth: 'login',
  noUsableTrack: 'stream',
  rejected: 'stream',
  noTransport: 'stream',
  srtp: 'stream',
  stalled: 'stream',
}

/**
 * Returns the result of each check. If the path is wrong, the login is unknown, because some cameras check the path
 * first.
 */
export function probeAnswers({ ok, kind, simulated }: ProbeResult): Record<ProbeQuestion, ProbeAnswer> {
  if (simulated) return { reach: 'unknown', login: 'unknown', stream: 'unknown' }
  if (ok) return { reach: 'ok', login: 'ok', stream: 'ok' }
  if (kind === 'notFound' || kind === 'closed') return { reach: 'ok', login: 'unknown', stream: 'bad' }
  const end = kind === null ? undefined : endsAt[kind]
  const at = end === undefined ? -1 : probeQuestions.indexOf(end)
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
