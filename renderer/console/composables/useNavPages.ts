import { computed } from 'vue'
import { pageNames, type PagePart, pageParts } from '../page-names.ts'
import { useCaller } from './useCaller.ts'
import { useAttention } from './useOverview.ts'
import { useWaiting } from './useWaiting.ts'

/** Pages that the signed-in account may open, and the counts beside them. */
export function useNavPages() {
  const { opens } = useCaller()
  const attention = useAttention()
  const { total: waiting } = useWaiting()
  return {
    pages: computed(() => pageNames.filter((name) => opens(`/${name}`))),
    /** The same pages in the parts of the navigation, without empty ones. */
    parts: computed(() =>
      (Object.keys(pageParts) as PagePart[])
        .map((part) => ({ part, pages: pageParts[part].filter((name) => opens(`/${name}`)) }))
        .filter(({ pages }) => pages.length > 0),
    ),
    /** Number of items that need attention. */
    urgent: computed(() => attention.value.filter((item) => item.level !== 'info').length),
    /** Number of people who wait before a room. */
    waiting,
  }
}
