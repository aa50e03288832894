import { computed, type MaybeRefOrGetter, ref, type Ref, toValue, watch } from 'vue'
import { type ActivityFilter, activityMatcher } from '../../../shared/console/activity.ts'
import { useEvent } from '../live/useEvent.ts'
import { useFeed } from '../live/useFeed.ts'
import { useConsole } from './useConsole.ts'

/** Entries per request: the controller's maximum. */
const pageSize = 500

interface ActivityOptions {
  /** While true, new entries are held back, and the list does not change. */
  held?: Ref<boolean>
  /** Maximum number of entries to read; default: page by page. */
  newest?: number
}

/** The request journal, newest first. */
export function useActivity(filter: MaybeRefOrGetter<ActivityFilter>, { held, newest }: ActivityOptions = {}) {
  const client = useConsole()
  const limit = newest ?? pageSize
  const counts = ref({ kept: 0, capacity: 0, skipped: 0 })
  const filterText = computed(() => JSON.stringify(toValue(filter)))
  const feed = useFeed({
    event: 'activity.added',
    async read(before) {
      const input = { ...toValue(filter), ...(before === undefined ? {} : { before }), limit }
      const answer = await client.call('activity.list', input)
      const last = newest === undefined && answer.items.length === limit ? answer.items.at(-1) : undefined
      return { ...answer, next: last?.seq ?? 0, newest: answer.items[0]?.seq ?? 0 }
    },
    matches: computed(() => activityMatcher(JSON.parse(filterText.value) as ActivityFilter)),
    ...(held && { held }),
  })
  watch(feed.page, (page) => {
    if (page) counts.value = { kept: page.kept, capacity: page.capacity, skipped: page.skipped }
  })
  useEvent('activity.added', ({ kept, skipped }) => {
    counts.value = { ...counts.value, kept, skipped }
    // The journal was cleared.
    if (kept === 0) feed.clear()
  })
  return { ...feed, counts }
}
