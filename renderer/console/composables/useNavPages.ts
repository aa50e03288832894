import { computed } from 'vue'
import { navigationPages, navigationParts } from '../pages.ts'
import { useAttention, useCaller } from './site.ts'
import { useWaiting } from './useWaiting.ts'

/** Pages that the signed-in account may open, and the counts beside them. */
export function useNavPages() {
  const { opens } = useCaller()
  const attention = useAttention()
  const { total: waiting } = useWaiting()
  const pages = computed(() => navigationPages.filter(({ address }) => opens(address)))
  return {
    pages,
    /** The same pages by section of the navigation, without empty sections. */
    parts: computed(() =>
      navigationParts
        .map((part) => ({ part, pages: pages.value.filter(({ navigation }) => navigation === part) }))
        .filter((one) => one.pages.length > 0),
    ),
    /** Number of items that need attention. */
    urgent: computed(() => attention.value.filter((item) => item.level !== 'info').length),
    /** Number of users who wait for admission. */
    waiting,
  }
}
