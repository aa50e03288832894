import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useUndo } from '../../composables/useUndo.ts'
import { type Translate, useText } from '../../i18n/text.ts'
import type { RoomView } from '../../../../shared/domain/rooms.ts'
import { menuItems, type MenuItem } from '../../../kit/menu/menu-items.ts'
import { useCaller } from '../../composables/site.ts'
import { useRecordingActs, useRecordings } from '../../composables/useRecordings.ts'
import { useJoinNow } from './useJoinNow.ts'
import { isByHand } from '../../../../shared/domain/recordings.ts'

export type RoomAct = 'lock' | 'unlock' | 'close' | 'reopen' | 'delete'

/** Minimum number of rooms for which the operator has to type the number before deleting them. */
const many = 2

/** Actions on one or several rooms. A question lists the losses first. */
export function useRoomActs() {
  const client = useConsole()
  const { t } = useText()
  const { ask, attempt, tell, warnFailed } = useFeedback()
  const { tellDeleted, keptText } = useUndo()

  /** Runs an action; `known`: loaded rooms, for the question. Resolves to whether the action was done. */
  async function act(kind: RoomAct, room_ids: string[], known: readonly RoomView[]): Promise<boolean> {
    if (!(await agreed(kind, room_ids, known))) return false
    const answer = await attempt(() => client.call(`rooms.${kind}`, { room_ids }))
    if (answer === undefined) return false
    const { done } = answer
    if (!warnFailed(answer) && kind !== 'delete') tell(t(`rooms.told.${kind}`, { n: done }))
    if (done > 0 && 'undo' in answer) tellDeleted(t('rooms.told.delete', { n: done }), 'rooms.restore', answer.undo)
    return true
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

const roomActIcons = {
  lock: 'lock',
  unlock: 'unlock',
  close: 'stop',
  reopen: 'door',
  delete: 'trash',
} as const satisfies Record<RoomAct, string>

/** Returns the menu items of the actions that are possible in a room's state, without its deletion. */
export function roomActItems({ status }: Pick<RoomView, 'status'>, t: Translate): MenuItem[] {
  const acts: RoomAct[] = status === 'closed' ? ['reopen'] : [status === 'locked' ? 'unlock' : 'lock', 'close']
  return acts.map((key) => ({ key, text: t(`rooms.acts.${key}`), icon: roomActIcons[key] }))
}

/** Menu of a room's row. */
export function useRoomMenu(open: { edit(room: RoomView): void; act(kind: RoomAct, room: RoomView): void }) {
  const { may } = useCaller()
  const { t } = useText()
  const { mayJoin, joinNow } = useJoinNow()
  const { targetOf } = useRecordings()
  const record = useRecordingActs()

  function menuOf(room: RoomView): MenuItem[] {
    const changes = may('rooms.update')
    // A recording by a rule or an order is changed in the panel.
    const target = targetOf(room.room_id)
    const records = changes && may('recordings.start')
    return menuItems(
      mayJoin(room) && { key: 'joinNow', text: t('rooms.joinNow.act'), icon: 'enter' },
      records && target === undefined && { key: 'record', text: t('recording.startRoom'), icon: 'record' },
      records &&
        target !== undefined &&
        isByHand(target.by) && { key: 'stopRecording', text: t('recording.stop'), icon: 'stopRecording' },
      changes && { key: 'edit', text: t('rooms.acts.edit'), icon: 'edit' },
      ...(changes ? roomActItems(room, t) : []),
      changes && { key: 'delete', text: t('rooms.acts.delete'), icon: 'trash', danger: true, divided: true },
    )
  }

  function run(key: string, room: RoomView): void {
    if (key === 'joinNow') void joinNow(room)
    else if (key === 'record') void record.start({ roomId: room.room_id, name: room.topic })
    else if (key === 'stopRecording') void record.stop({ roomId: room.room_id, name: room.topic })
    else if (key === 'edit') open.edit(room)
    else if (isRoomAct(key)) open.act(key, room)
  }

  return { menuOf, run }
}

export function isRoomAct(key: string): key is RoomAct {
  return Object.hasOwn(roomActIcons, key)
}
