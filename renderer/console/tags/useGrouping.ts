import { computed, type Ref, ref, watch } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import type { TaggedKind } from './useKnownTags.ts'
import { browserStorage } from '../../kit/storage.ts'

const prefix = 'roomdesk.group.'

/**
 * Groups a list by tag. The choice is in the page's address, `?group=tag`; this browser stores it for addresses without
 * one.
 */
export function useGrouping(kind: TaggedKind): Ref<boolean> {
  const route = useRoute()
  const router = useRouter()
  const remembered = ref(browserStorage.get(prefix + kind) === 'tag')
  const list = `/${kind}`
  const isInList = (): boolean => route.path === list || route.path.startsWith(`${list}/`)

  function write(isGrouped: boolean): void {
    const { group: _, ...others } = route.query
    void router.replace({ path: route.path, query: { ...others, ...(isGrouped ? { group: 'tag' } : {}) } })
  }

  watch(
    () => remembered.value && route.query.group === undefined && route.query.new === undefined && isInList(),
    (isMissing) => isMissing && write(true),
    { immediate: true },
  )

  return computed({
    get: () => (route.query.group === undefined ? remembered.value : route.query.group === 'tag'),
    set(isGrouped) {
      remembered.value = isGrouped
      browserStorage.set(prefix + kind, isGrouped ? 'tag' : undefined)
      write(isGrouped)
    },
  })
}
