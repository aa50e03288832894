import { computed } from 'vue'
import type { RefusedCall, RefusedClient } from '../../../shared/console/older-clients.ts'
import { useCredentials } from './useCredentials.ts'
import { useOverview } from './useOverview.ts'

/** Call that a client made in vain because a switch is off, all its calls together. */
export interface Refusal extends RefusedClient {
  /** Paths it called, the last one first. */
  paths: readonly string[]
  count: number
  /** Time of its first call, milliseconds since the epoch. */
  first_at: number
}

/** Clients of the original platform that a switch keeps out, the one that called last first. */
export function useRefusals() {
  const { value: overview } = useOverview()
  const { value: credentials } = useCredentials()
  const refusals = computed(() => refusalsOf(overview.value?.older_clients.refused ?? []))

  /** Address and credential of a client, as the operator knows them. */
  function clientName({ client, credential }: Pick<RefusedClient, 'client' | 'credential'>): string {
    if (credential === '') return client
    const label = credentials.value?.find(({ access_key }) => access_key === credential)?.label
    return `${client} (${label ?? credential})`
  }

  return { refusals, clientName }
}

/** Calls by the client that made them and the setting that would answer them. `calls` begins with the last one, and so do they. */
export function refusalsOf(calls: readonly RefusedCall[]): Refusal[] {
  const found = new Map<string, Refusal>()
  for (const { setting, client, credential, path, count, first_at } of calls) {
    const key = JSON.stringify([setting, client, credential])
    const before = found.get(key) ?? { setting, client, credential, paths: [], count: 0, first_at }
    found.set(key, {
      ...before,
      paths: [...new Set([...before.paths, path])],
      count: before.count + count,
      first_at: Math.min(before.first_at, first_at),
    })
  }
  return [...found.values()]
}
