import { computed } from 'vue'
import type { RefusedCall, RefusedClient } from '../../../shared/console/older-clients.ts'
import { useCredentials, useOverview } from './site.ts'

/** Calls of one client that were refused because a setting is off. */
export interface Refusal extends RefusedClient {
  /** Paths of the calls, latest first. */
  paths: readonly string[]
  count: number
  /** Time of the first call, in milliseconds since the epoch. */
  first_at: number
}

/** Clients of the original platform that were refused because a setting is off, latest caller first. */
export function useRefusals() {
  const { value: overview } = useOverview()
  const { value: credentials } = useCredentials()
  const refusals = computed(() => refusalsOf(overview.value?.older_clients.refused ?? []))

  /** Returns the name of a client: its address and its credential's label. */
  function clientName({ client, credential }: Pick<RefusedClient, 'client' | 'credential'>): string {
    if (credential === '') return client
    const label = credentials.value?.find(({ access_key }) => access_key === credential)?.label
    return `${client} (${label ?? credential})`
  }

  return { refusals, clientName }
}

/**
 * Groups calls by client and by the setting that would allow them. Both `calls` and the groups start with the latest.
 */
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
