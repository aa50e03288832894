import { useEventListener } from '@vueuse/core'
import { onScopeDispose, reactive, type Ref, watchEffect } from 'vue'
import { onBeforeRouteLeave, onBeforeRouteUpdate } from 'vue-router'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useText } from '../../i18n/text.ts'

/** Cards with unsaved changes. */
const dirty = reactive(new Set<symbol>())

/** Registers a card that may have unsaved changes. */
export function useUnsavedCard(isDirty: Readonly<Ref<boolean>>): void {
  const card = Symbol('card')
  watchEffect(() => {
    if (isDirty.value) dirty.add(card)
    else dirty.delete(card)
  })
  onScopeDispose(() => dirty.delete(card))
}

/** Asks before unsaved changes are lost: when another page or section is opened, and when the window is closed. */
export function useUnsavedGuard(): void {
  const { t } = useText()
  const { ask } = useFeedback()

  async function mayLeave(): Promise<boolean> {
    if (dirty.size === 0) return true
    return ask({ title: t('settings.leave.title'), body: t('settings.leave.body'), action: t('settings.leave.act') })
  }

  useEventListener('beforeunload', (event) => {
    if (dirty.size > 0) event.preventDefault()
  })

  onBeforeRouteLeave(mayLeave)
  onBeforeRouteUpdate(mayLeave)
}

/** Skips the question when the page is left intentionally. */
export function forgetUnsaved(): void {
  dirty.clear()
}
