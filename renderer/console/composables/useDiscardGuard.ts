import { returnFocusLater } from '../../kit/composables/useDialogFocus.ts'
import { useText } from '../i18n/text.ts'
import { useFeedback } from './useFeedback.ts'

/**
 * Asks before a dialog with unsaved input closes by Esc, its cross or a click beside it: a slip loses nothing. The dialog's own Cancel does not ask.
 * @returns the dialog's `before-close`
 */
export function useDiscardGuard(isDirty: () => boolean): (done: () => void) => void {
  const { t } = useText()
  const { ask } = useFeedback()
  let asking = false

  async function close(done: () => void): Promise<void> {
    if (asking) return
    if (isDirty()) {
      asking = true
      const question = { title: t('unsaved.title'), body: t('unsaved.body') }
      const discards = await ask({ ...question, action: t('words.discard'), refusal: t('unsaved.stay') })
      asking = false
      if (!discards) return returnFocusLater()
    }
    done()
  }
  return (done) => void close(done)
}
