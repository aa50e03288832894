import type { MenuItem } from '../../../kit/menu/AppMenu.vue'
import { useCaller } from '../../composables/useCaller.ts'
import { useRecordingActs, useRecordings } from '../../composables/useRecordings.ts'
import { useText } from '../../i18n/text.ts'
import { useJoinNow } from './useJoinNow.ts'
import type { RoomAct } from './useRoomActs.ts'
import type { RoomView } from '../../../../shared/domain/rooms.ts'
import { isByHand } from '../../../../shared/domain/recordings.ts'

/** Icon of each action. */
export const roomActIcons = {
  lock: 'lock',
  unlock: 'unlock',
  close: 'stop',
  reopen: 'door',
  delete: 'trash',
} as const satisfies Record<RoomAct, string>

/** Returns the actions that are possible in a room's state. */
export function roomActsOf({ status }: Pick<RoomView, 'status'>): Exclude<RoomAct, 'delete'>[] {
  if (status === 'closed') return ['reopen']
  return status === 'locked' ? ['unlock', 'close'] : ['lock', 'close']
}

/** Menu of a room's row. */
export function useRoomMenu(open: { edit(room: RoomView): void; act(kind: RoomAct, room: RoomView): void }) {
  const { may } = useCaller()
  const { t } = useText()
  const { mayJoin, joinNow } = useJoinNow()
  const { targetOf } = useRecordings()
  const record = useRecordingActs()

  function menuOf(room: RoomView): MenuItem[] {
    const join: MenuItem[] = mayJoin(room) ? [{ key: 'joinNow', text: t('rooms.joinNow.act'), icon: 'enter' }] : []
    if (!may('rooms.update')) return join
    return [
      ...join,
      ...recordActs(room),
      { key: 'edit', text: t('rooms.acts.edit'), icon: 'edit' },
      ...roomActsOf(room).map((key) => ({ key, text: t(`rooms.acts.${key}`), icon: roomActIcons[key] })),
      { key: 'delete', text: t('rooms.acts.delete'), icon: 'trash', danger: true, divided: true },
    ]
  }

  /**
   * Returns the recording actions. A recording by a rule or an order has none here, because it is changed in the panel.
   */
  function recordActs({ room_id }: RoomView): MenuItem[] {
    const target = targetOf(room_id)
    if (!may('recordings.start') || (target !== undefined && !isByHand(target.by))) return []
    return target === undefined
      ? [{ key: 'record', text: t('recording.startRoom'), icon: 'record' }]
      : [{ key: 'stopRecording', text: t('recording.stop'), icon: 'stopRecording' }]
  }

  /** Runs an action of the menu by its key. */
  function run(key: string, room: RoomView): void {
    if (key === 'joinNow') void joinNow(room)
    else if (key === 'record') void record.start({ roomId: room.room_id, name: room.topic })
    else if (key === 'stopRecording') void record.stop({ roomId: room.room_id, name: room.topic })
    else if (key === 'edit') open.edit(room)
    else if (isRoomAct(key)) open.act(key, room)
  }

  return { menuOf, run }
}

/** Returns whether a menu's key is an action on a room. */
export function isRoomAct(key: string): key is RoomAct {
  return Object.hasOwn(roomActIcons, key)
}
