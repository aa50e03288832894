import { computed, reactive, watch } from 'vue'
import { useRoute, useRouter } from 'vue-router'

/** Query of a page's address. */
export type PageQuery = Readonly<Record<string, unknown>>

/**
 * Values of the controls that filter a page: those of its address at first, and of each further link to the page.
 * @param nothing returns the values that do not filter
 * @param chosenBy returns the values that a query names
 */
export function useQueryChoice<C extends object>(nothing: () => C, chosenBy: (query: PageQuery) => Partial<C>) {
  const route = useRoute()
  const router = useRouter()
  const { path } = route
  const choice = reactive({ ...nothing(), ...chosenBy(route.query) }) as C
  const active = computed(() => JSON.stringify(choice) !== JSON.stringify(nothing()))

  watch(
    () => route.query,
    (query) => {
      if (route.path === path) Object.assign(choice, nothing(), chosenBy(query))
    },
  )

  /** Removes the filter, also from the address: a reload would bring it back. */
  function clear(): void {
    Object.assign(choice, nothing())
    if (Object.keys(route.query).length > 0) void router.replace({ path })
  }

  return { choice, active, clear }
}
