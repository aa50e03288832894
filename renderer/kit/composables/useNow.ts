import { onScopeDispose, readonly, ref, type Ref } from 'vue'

const now = ref(Date.now())
let users = 0
let timer = 0

function start(): void {
  timer = window.setInterval(() => {
    if (!document.hidden) now.value = Date.now()
  }, 1_000)
}

/** Current time, updated once a second, for "3 s ago" and countdowns. One timer for the whole page. */
export function useNow(): Readonly<Ref<number>> {
  if (users++ === 0) start()
  now.value = Date.now()
  onScopeDispose(() => {
    if (--users === 0) clearInterval(timer)
  })
  return readonly(now)
}
