import { computed, type Ref } from 'vue'
import { eventMatcher } from '../../../../shared/console/event-matcher.ts'
import type { EventEntry, EventFilter } from '../../../../shared/domain/events.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeed } from '../../live/useFeed.ts'

/** Entries per request. */
const pageSize = 200

/**
 * A filter, and a test of the displayed text, because the controller may return entries whose displayed text does not
 * match.
 */
interface EventSearch {
  filter: EventFilter
  shows: (entry: EventEntry) => boolean
}

/** The event log, newest first. While `held`, new entries are held back. */
export function useEventList(wanted: Ref<EventSearch>, held: Ref<boolean>) {
  const client = useConsole()
  const feed = useFeed({
    event: 'events.added',
    read: (before) =>
      client.call('events.list', {
        ...wanted.value.filter,
        ...(before === undefined ? {} : { before }),
        limit: pageSize,
      }),
    matches: computed(() => {
      const { filter, shows } = wanted.value
      const matches = eventMatcher(filter)
      return (entry: EventEntry) => matches(entry) && shows(entry)
    }),
    held,
  })
  const { page, newest } = feed
  return {
    ...feed,
    counts: computed(() => {
      const { kept = 0, since = 0, lost = 0, newest: counted = 0 } = page.value ?? {}
      return { kept: kept + Math.max(0, newest.value - counted), since, lost }
    }),
    /** Number of entries that the current search has read. */
    searched: computed(() => {
      const { kept = 0, next = 0, newest: last = 0 } = page.value ?? {}
      return next === 0 ? kept : last - next + 1
    }),
  }
}
