import { computed } from 'vue'
import { pageNames } from '../page-names.ts'
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
    /** Number of items that need attention. */
    urgent: computed(() => attention.value.filter((item) => item.level !== 'info').length),
    /** Number of people who wait before a room. */
    waiting,
  }
}
