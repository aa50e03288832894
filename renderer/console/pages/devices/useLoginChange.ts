import { computed, onScopeDispose, ref, shallowRef } from 'vue'
import type { DeviceErrorKind } from '../../../../shared/device.ts'
import { useConsole } from '../../composables/useConsole.ts'

/** Result of one camera. */
export interface LoginResult {
  userId: string
  outcome: 'accepted' | 'savedAnyway' | 'kept' | 'failed'
  kind: DeviceErrorKind | null
}

/** Number of cameras that are tested concurrently. */
const atOnce = 3

/** Changes the login of cameras, some at a time. Each login is tested before it is saved. */
export function useLoginChange() {
  const client = useConsole()
  const results = shallowRef<readonly LoginResult[]>([])
  const total = ref(0)
  const running = ref(false)
  let stopped = false

  async function one(
    userId: string,
    login: { login_name: string; login_password: string; always: boolean },
  ): Promise<void> {
    let result: LoginResult
    try {
      const { saved, accepted, kind } = await client.call('devices.change_login', { userId, ...login })
      result = { userId, outcome: accepted ? 'accepted' : saved ? 'savedAnyway' : 'kept', kind }
    } catch {
      result = { userId, outcome: 'failed', kind: null }
    }
    results.value = [...results.value, result]
  }

  async function run(userIds: readonly string[], login: Parameters<typeof one>[1]): Promise<void> {
    results.value = []
    total.value = userIds.length
    running.value = true
    stopped = false
    const left = [...userIds]
    const work = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined && !stopped; next = left.shift()) await one(next, login)
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    running.value = false
  }

  /** Stops before the next camera; running tests are finished. */
  function stop(): void {
    stopped = true
  }

  onScopeDispose(stop)
  return { results, total, running, done: computed(() => results.value.length), run, stop }
}
