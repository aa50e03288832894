import { useConsole } from '../../composables/useConsole.ts'
import { refusalText } from '../../composables/refusalText.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useUndo } from '../../composables/useUndo.ts'
import { useText } from '../../i18n/text.ts'
import type { RoomView } from '../../../../shared/domain/rooms.ts'

export type RoomAct = 'lock' | 'unlock' | 'close' | 'reopen' | 'delete'

/** Minimum number of rooms for which the operator has to type the number before deleting them. */
const many = 2

/** Actions on one or several rooms. A question lists the losses first. */
export function useRoomActs() {
  const client = useConsole()
  const { t } = useText()
  const { ask, fail, tell, warn } = useFeedback()
  const { tellDeleted, keptText } = useUndo()

  /** Runs an action; `known`: loaded rooms, for the question. Resolves to whether the action was done. */
  async function act(kind: RoomAct, room_ids: string[], known: readonly RoomView[]): Promise<boolean> {
    if (!(await agreed(kind, room_ids, known))) return false
    try {
      if (kind === 'delete') {
        await remove(room_ids)
        return true
      }
      const { done, failed } = await client.call(`rooms.${kind}`, { room_ids })
      const first = failed[0]
      if (first) warn(t('bulk.failed', { done, failed: failed.length, message: refusalText(first, t) }))
      else tell(t(`rooms.told.${kind}`, { n: done }))
      return true
    } catch (error) {
      fail(error)
      return false
    }
  }

  async function remove(room_ids: string[]): Promise<void> {
    const { done, failed, undo } = await client.call('rooms.delete', { room_ids })
    const first = failed[0]
    if (first) warn(t('bulk.failed', { done, failed: failed.length, message: refusalText(first, t) }))
    if (done > 0) tellDeleted(t('rooms.told.delete', { n: done }), 'rooms.restore', undo)
  }

  async function agreed(kind: RoomAct, room_ids: string[], known: readonly RoomView[]): Promise<boolean> {
    if (kind !== 'close' && kind !== 'delete') return true
    const people = known.reduce((sum, room) => sum + room.people, 0)
    const devices = known.reduce((sum, room) => sum + room.devices, 0)
    const n = room_ids.length
    const losses = [
      ...(people > 0 ? [t('rooms.ask.losePeople', { n: people })] : []),
      ...(devices > 0 ? [t(`rooms.ask.${kind}Devices`, { n: devices })] : []),
      ...(kind === 'delete' ? [t('rooms.ask.loseNumber', { n })] : []),
    ]
    return ask({
      title: t(`rooms.ask.${kind}Title`, { n, room: n === 1 ? (known[0]?.topic ?? room_ids[0] ?? '') : '' }),
      body: kind === 'delete' ? `${keptText()} ${t('recording.stays')}` : t('rooms.ask.closeBody', { n }),
      losses,
      action: t(`rooms.acts.${kind}`),
      ...(kind === 'delete' && n >= many ? { typed: n } : {}),
    })
  }

  return { act }
}
