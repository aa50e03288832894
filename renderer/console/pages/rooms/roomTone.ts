import type { RoomStatus } from '../../../../shared/domain/rooms.ts'

/** Colour of a room's state. */
export const roomTone: Readonly<Record<RoomStatus, 'ok' | 'warn' | 'bad' | 'idle'>> = {
  scheduled: 'idle',
  open: 'ok',
  locked: 'warn',
  closed: 'bad',
}
