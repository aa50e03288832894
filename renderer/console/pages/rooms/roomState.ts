import type { RoomStatus, RoomView } from '../../../../shared/domain/rooms.ts'
import type { TextKey } from '../../i18n/text.ts'

export const roomTone: Readonly<Record<RoomStatus, 'ok' | 'warn' | 'bad' | 'idle'>> = {
  scheduled: 'idle',
  open: 'ok',
  locked: 'warn',
  closed: 'bad',
}

type Shown = Pick<RoomView, 'status' | 'schedule'>

/** Returns the key of a room state's name. */
export function roomStateWord({ status, schedule }: Shown): TextKey {
  return status === 'scheduled' && schedule !== null ? 'schedule.shut' : `rooms.statuses.${status}`
}

/** Returns the key of a room state's explanation. */
export function roomStateHint({ status, schedule }: Shown): TextKey {
  if (schedule !== null && status === 'scheduled') return 'schedule.shutHint'
  return schedule !== null && status === 'open' ? 'schedule.openHint' : `rooms.statusHint.${status}`
}
