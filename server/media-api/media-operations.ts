import type { AnyOperation } from '../http/operation.ts'
import type { JoinLinks } from '../rooms/join-links.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import type { OrderedMedia } from '../recordings/records/ordered-media.ts'
import { joinUrlOperation } from './join-url.ts'
import { mcuOperations } from './mcu.ts'
import { recordingOperations } from './recording-operations.ts'
import { roomOperations } from './room-operations.ts'
import { userOperations } from './users.ts'

/** Needs of the media API's operations. */
export interface MediaServices {
  rooms: Rooms
  joinLinks: JoinLinks
  orders: OrderedMedia
}

/** The operations of the media API but authenticate, which belongs to access. */
export function mediaOperations({ rooms, joinLinks, orders }: MediaServices): AnyOperation[] {
  return [
    ...roomOperations(rooms),
    ...mcuOperations(rooms),
    ...userOperations(rooms),
    joinUrlOperation(joinLinks),
    ...recordingOperations(orders),
  ]
}
