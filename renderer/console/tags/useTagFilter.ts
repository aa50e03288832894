import { computed } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { limits } from '../../../shared/limits.ts'
import { distinctTags, tagKey, tagSchema } from '../../../shared/tags.ts'

/** Tags that filter a list, stored in the page's address: `?tag=A&tag=B`. */
export function useTagFilter() {
  const route = useRoute()
  const router = useRouter()

  const tags = computed<string[]>({
    get() {
      const given = [route.query.tag ?? []].flat().flatMap((text) => tagSchema.safeParse(text).data ?? [])
      return distinctTags(given).slice(0, limits.tagsOfRecord)
    },
    set(chosen) {
      const { tag: _, ...others } = route.query
      void router.replace({ path: route.path, query: { ...others, ...(chosen.length === 0 ? {} : { tag: chosen }) } })
    },
  })

  const isChosen = (tag: string): boolean => tags.value.some((one) => tagKey(one) === tagKey(tag))

  /** Adds a tag to the filter, or removes it. */
  function toggle(tag: string): void {
    const others = tags.value.filter((one) => tagKey(one) !== tagKey(tag))
    tags.value = others.length < tags.value.length ? others : [...others, tag]
  }

  return { tags, isChosen, toggle }
}
