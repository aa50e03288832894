import { useEventListener, useIdle } from '@vueuse/core'
import { computed, onBeforeUnmount, onMounted, ref, type Ref, watch } from 'vue'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useText } from '../../i18n/text.ts'

/** Shows only the wall, in full screen if the browser allows it, and keeps the screen on. */
export function useFullWall(begins: boolean) {
  const client = useConsole()
  const { warn } = useFeedback()
  const { t } = useText()
  const full = ref(begins)
  const still = useStillPointer(full)
  let lock: WakeLockSentinel | undefined
  /** Whether the operator was warned that the screen may turn off. */
  let told = false

  async function keepAwake(): Promise<void> {
    if (!full.value || document.hidden || lock?.released === false) return
    // No wake lock on a page over plain HTTP, or while the system saves power: the screen may turn off.
    lock = 'wakeLock' in navigator ? await navigator.wakeLock.request('screen').catch(() => undefined) : undefined
    if (!full.value) void lock?.release()
    else if (lock === undefined && !told) {
      told = true
      warn(t(window.isSecureContext ? 'wall.mayGoDark' : 'wall.mayGoDarkPlain'))
    }
  }

  function toggle(): void {
    full.value = !full.value
    // The desktop app has no full screen for pages; its window can be in full screen instead.
    if (client.kind !== 'websocket') return
    // If the browser refuses, the wall stays as it is.
    if (full.value) void document.documentElement.requestFullscreen().catch(() => {})
    else leaveFullScreen()
  }

  function leaveFullScreen(): void {
    // If the browser refuses, the wall stays as it is.
    if (document.fullscreenElement !== null) void document.exitFullscreen().catch(() => {})
  }

  function followScreen(): void {
    if (document.fullscreenElement === null) full.value = false
  }

  function leave(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || event.defaultPrevented || !full.value) return
    event.preventDefault()
    toggle()
  }

  const awake = (): void => void keepAwake()
  watch(full, (now) => {
    if (now) awake()
    else void lock?.release()
  })
  useEventListener(document, 'fullscreenchange', followScreen)
  useEventListener(document, 'visibilitychange', awake)
  useEventListener('keydown', leave)
  onMounted(awake)
  onBeforeUnmount(() => {
    void lock?.release()
    leaveFullScreen()
  })
  return { full, still, toggle }
}

/** Time without a movement after which the pointer is hidden, in milliseconds. */
const pointerMs = 3_000

/** Returns whether to hide the pointer: `full` is true, and the pointer does not move. */
export function useStillPointer(full: Readonly<Ref<boolean>>): Readonly<Ref<boolean>> {
  const { idle, reset } = useIdle(pointerMs, { events: ['pointermove'], listenForVisibilityChange: false })
  watch(full, reset)
  return computed(() => full.value && idle.value)
}
