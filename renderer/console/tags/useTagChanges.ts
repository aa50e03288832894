import type { ProcedureInput } from '../../../shared/console/contract.ts'
import type { TagChange } from '../../../shared/tags.ts'
import { refusalText, useFeedback } from '../composables/useFeedback.ts'
import { useConsole } from '../composables/useConsole.ts'
import { useUndo } from '../composables/useUndo.ts'
import { useText } from '../i18n/text.ts'
import type { TaggedKind } from './useKnownTags.ts'

/** Changes tags of many rooms or devices, with undo. */
export function useTagChanges(kind: TaggedKind) {
  const client = useConsole()
  const { t } = useText()
  const { tell, warn, fail } = useFeedback()
  const { tellUndoable } = useUndo()

  async function call(input: ProcedureInput<'rooms.change_tags'> | ProcedureInput<'devices.change_tags'>) {
    // Both inputs are equal except for the name of their keys.
    return kind === 'rooms'
      ? await client.call('rooms.change_tags', input as ProcedureInput<'rooms.change_tags'>)
      : await client.call('devices.change_tags', input as ProcedureInput<'devices.change_tags'>)
  }

  /** Adds and removes tags. Resolves to whether that was done. */
  async function change(keys: readonly string[], { add, remove }: TagChange): Promise<boolean> {
    const tags = { add: [...add], remove: [...remove] }
    const changes = kind === 'rooms' ? [{ room_ids: [...keys], ...tags }] : [{ userIds: [...keys], ...tags }]
    try {
      const { done, failed, undo } = await call({ changes } as Parameters<typeof call>[0])
      const first = failed[0]
      if (first) warn(t('bulk.failed', { done, failed: failed.length, message: refusalText(first, t) }))
      const changed = undo.reduce((sum, one) => sum + ('room_ids' in one ? one.room_ids : one.userIds).length, 0)
      const message = t(`tags.told.${kind}`, { n: changed })
      if (changed === 0) {
        if (!first) tell(t('tags.told.nothing'))
        return true
      }
      tellUndoable(message, () => void restore({ changes: undo } as Parameters<typeof call>[0]))
      return true
    } catch (error) {
      fail(error)
      return false
    }
  }

  async function restore(input: Parameters<typeof call>[0]): Promise<void> {
    try {
      const { done, failed } = await call(input)
      const first = failed[0]
      if (first) warn(t('bulk.failed', { done, failed: failed.length, message: refusalText(first, t) }))
      else tell(t(`tags.told.${kind}`, { n: done }))
    } catch (error) {
      fail(error)
    }
  }

  return { change }
}
