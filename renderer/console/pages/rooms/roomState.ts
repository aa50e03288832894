import type { TextKey } from '../../i18n/text.ts'
import type { RoomView } from '../../../../shared/domain/rooms.ts'

type Shown = Pick<RoomView, 'status' | 'schedule'>

/** Word for the state of a room. */
export function roomStateWord({ status, schedule }: Shown): TextKey {
  return status === 'scheduled' && schedule !== null ? 'schedule.shut' : `rooms.statuses.${status}`
}

/** Meaning of the state of a room. */
export function roomStateHint({ status, schedule }: Shown): TextKey {
  if (schedule !== null && status === 'scheduled') return 'schedule.shutHint'
  return schedule !== null && status === 'open' ? 'schedule.openHint' : `rooms.statusHint.${status}`
}
