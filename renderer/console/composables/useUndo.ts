import type { ProcedureName } from '../../../shared/console/contract.ts'
import { useShortcuts } from '../../kit/composables/useShortcuts.ts'
import { useText } from '../i18n/text.ts'
import { shortcuts } from '../shortcuts.ts'
import { useFeedback } from './useFeedback.ts'
import { useCaller, useSettings } from './site.ts'
import { useConsole } from './useConsole.ts'
import { showMessage } from '../../kit/messages/messages.ts'

/** Procedures that restore deleted objects. */
export type RestoreName =
  Extract<ProcedureName, `${string}.restore`> extends infer N ? Exclude<N, 'backups.restore'> : never

/** Time for which a message offers to undo, in milliseconds. */
const undoMs = 10_000

/** Undo of deletions and of other actions. */
export function useUndo() {
  const client = useConsole()
  const { may } = useCaller()
  const { t } = useText()
  const { attempt, tell, warnFailed } = useFeedback()
  const { value: settings } = useSettings()
  /** The message that offers to undo; undefined: it is closed. */
  let latest: { close: () => void; undo: () => void } | undefined
  useShortcuts(shortcuts.page, {
    undo: ({ shiftKey }) => {
      if (latest === undefined || shiftKey) return false
      latest.undo()
      return true
    },
  })

  /** Restores objects, and reports the result. */
  async function restore(name: RestoreName, which: { undo: string } | { ids: string[] }): Promise<void> {
    await attempt(async () => {
      const answer = await client.call(name, which)
      if (!warnFailed(answer)) tell(t('trash.restored', { n: answer.done }))
    })
  }

  /**
   * Reports a deletion, and offers to undo it. @param undo value of the deletion's answer; empty: it cannot be undone
   */
  function tellDeleted(message: string, name: RestoreName, undo: string): void {
    if (undo === '' || !may(name)) return tell(message)
    tellUndoable(message, () => void restore(name, { undo }))
  }

  /** Reports an action, and offers to undo it. */
  function tellUndoable(text: string, undo: () => void): void {
    latest?.close()
    const act = (): void => {
      close()
      undo()
    }
    const { close } = showMessage({
      text,
      tone: 'ok',
      duration: undoMs,
      closable: true,
      action: { text: t('trash.undo'), hint: t('trash.undoHint'), run: act },
      onClose: () => (latest = undefined),
    })
    latest = { close, undo: act }
  }

  /** Returns the sentence about how long a deletion can be undone, for the question before it. */
  function keptText(): string {
    const days = settings.value?.trash.days
    if (days === undefined) return ''
    return days === 0 ? t('trash.notKept') : t('trash.kept', { n: days })
  }

  return { tellDeleted, tellUndoable, restore, keptText }
}
