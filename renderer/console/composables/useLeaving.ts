import { onScopeDispose, readonly, ref } from 'vue'
import type { Ref } from 'vue'
import { useRouter } from 'vue-router'

/** Whether the operator is on the way to another page, which is still loaded: to lead on from this one would cancel that. */
export function useLeaving(): Readonly<Ref<boolean>> {
  const router = useRouter()
  const isLeaving = ref(false)
  onScopeDispose(router.beforeEach((to, from) => void (isLeaving.value = to.matched[0] !== from.matched[0])))
  onScopeDispose(router.afterEach(() => void (isLeaving.value = false)))
  return readonly(isLeaving)
}
