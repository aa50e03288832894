import { onScopeDispose, readonly, ref, type Ref } from 'vue'
import { useRouter } from 'vue-router'

/** Whether a navigation to another page is pending: opening a further page would cancel it. */
export function useLeaving(): Readonly<Ref<boolean>> {
  const router = useRouter()
  const isLeaving = ref(false)
  onScopeDispose(router.beforeEach((to, from) => void (isLeaving.value = to.matched[0] !== from.matched[0])))
  onScopeDispose(router.afterEach(() => void (isLeaving.value = false)))
  return readonly(isLeaving)
}
