import { onScopeDispose, ref, shallowRef } from 'vue'
import type { AppChange } from '../../../../shared/app-contract.ts'
import { onAppChange } from '../../../kit/transport/app-calls.ts'
import { useFeedback } from '../../composables/useFeedback.ts'

/**
 * State of a card about one part of the desktop app.
 * @param read reads the part's state, initially and after each change; each call returns the state
 */
export function useAppCard<T extends object>(part: AppChange, read: () => Promise<T>) {
  const { attempt, errorText, tell } = useFeedback()
  const view = shallowRef<T>()
  const busy = ref(false)
  const failure = ref('')

  /** Makes a call; a failure is shown as a message. */
  async function act(call: () => Promise<T>): Promise<void> {
    const now = await attempt(call)
    if (now) view.value = now
  }

  /** Saves the card; a failure is shown in the card. @param saved returns the message after success */
  async function save(call: () => Promise<T>, saved: () => string): Promise<void> {
    busy.value = true
    failure.value = ''
    try {
      view.value = await call()
      tell(saved())
    } catch (error) {
      failure.value = errorText(error)
    } finally {
      busy.value = false
    }
  }

  onScopeDispose(onAppChange(part, () => void act(read)))
  void act(read)
  return { view, busy, failure, act, save }
}
