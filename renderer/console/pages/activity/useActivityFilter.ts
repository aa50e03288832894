import { computed } from 'vue'
import type { ActivityFilter } from '../../../../shared/console/activity.ts'
import { type PageQuery, useQueryChoice } from '../../composables/useQueryChoice.ts'

/** Values of the controls above the journal; empty texts and zeros do not filter. */
export interface FilterChoice {
  search: string
  api: 'media' | 'device' | ''
  /** Name of an operation, or `unknown` for an unknown path. */
  operation: string
  outcome: 'ok' | 'failed' | number | ''
  /** access_key, or `unknown` for requests without one. */
  credential: string
  client: string
  room: string
  /** Minimum latency in milliseconds. */
  slower: number
  /** Maximum age in milliseconds at the time of the choice. */
  age: number
}

/** Represents an empty value, because an empty choice means "any". */
export const unknown = ' '

const nothing = (): FilterChoice => ({
  search: '',
  api: '',
  operation: '',
  outcome: '',
  credential: '',
  client: '',
  room: '',
  slower: 0,
  age: 0,
})

/** The filter of the journal, also by the query of the page's address, e.g. `?outcome=failed&credential=demo`. */
export function useActivityFilter() {
  const { choice, ...rest } = useQueryChoice(nothing, chosenBy)
  return { choice, ...rest, filter: computed<ActivityFilter>(() => asked(choice)) }
}

/** Returns the filter for the controller. */
export function asked(choice: FilterChoice, now = Date.now()): ActivityFilter {
  const { search, api, operation, outcome, credential, client, room, slower, age } = choice
  return {
    search: search.trim().slice(0, 200),
    ...(api === '' ? {} : { api }),
    ...(operation === '' ? {} : { operation: operation.trim() }),
    ...(outcome === '' ? {} : { outcome }),
    ...(credential === '' ? {} : { credential: credential.trim() }),
    ...(client === '' ? {} : { client: client.trim() }),
    ...(room === '' ? {} : { room }),
    ...(slower === 0 ? {} : { slower_than: slower }),
    ...(age === 0 ? {} : { since: now - age }),
  }
}

function chosenBy(query: PageQuery): Partial<FilterChoice> {
  const chosen: Partial<FilterChoice> = {}
  for (const name of ['search', 'operation', 'credential', 'client', 'room'] as const) {
    const value = query[name]
    if (typeof value === 'string') chosen[name] = value
  }
  const { api, outcome } = query
  if (api === 'media' || api === 'device') chosen.api = api
  if (outcome === 'ok' || outcome === 'failed') chosen.outcome = outcome
  else if (typeof outcome === 'string' && /^\d{1,4}$/.test(outcome)) chosen.outcome = Number(outcome)
  return chosen
}
