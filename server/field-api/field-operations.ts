import {
  createOutgoingUserOfOlderClients,
  createRoomOfOlderClients,
  destroyOutgoingUserOfOlderClients,
  getMcuOfOlderClients,
  listOutgoingUsersOfOlderClients,
} from '../../shared/field-operations.ts'
import { destroyUser, identityOf, listedItem } from '../devices/outgoing-answers.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import { type AnyOperation, implement } from '../http/operation.ts'
import type { AuthenticateServices } from '../media-api/authenticate.ts'
import { mcuOf } from '../media-api/mcu.ts'
import { createdRoom } from '../media-api/room-operations.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import { accessTokenOperation } from './access-token.ts'
import { optionsAsMeant } from './older-parameters.ts'
import { recordOperations, type RecordServices } from './record-operations.ts'
import { serverInfoOperation, type ServerInfoServices } from './server-info.ts'

/** Needs of the operations for older clients. */
export interface FieldServices extends AuthenticateServices, ServerInfoServices, RecordServices {
  rooms: Rooms
  outgoing: OutgoingUsers
}

/** Operations for clients of the original platform, by port: additional ones, and others in the place of those with the same path. */
export function fieldOperations(services: FieldServices): { media: AnyOperation[]; device: AnyOperation[] } {
  const { rooms } = services
  const device = [...deviceOperations(services), accessTokenOperation(services), ...recordOperations(services)]
  return {
    device,
    // One origin: those clients have one base address for both APIs.
    media: [
      implement(createRoomOfOlderClients, (wanted, { accessKey }) => createdRoom(rooms, wanted, accessKey)),
      implement(getMcuOfOlderClients, ({ room_id, options }) => mcuOf(rooms, room_id, optionsAsMeant(options))),
      serverInfoOperation(services),
      ...device,
    ],
  }
}

function deviceOperations({ outgoing }: FieldServices): AnyOperation[] {
  return [
    implement(createOutgoingUserOfOlderClients, async ({ userName, options, ...given }) => {
      const named = { ...given, userName: userName || given.userId, options: optionsAsMeant(options) }
      return { data: identityOf(await outgoing.create(named)) }
    }),
    implement(destroyOutgoingUserOfOlderClients, (given, { accessKey }) => destroyUser(outgoing, given, accessKey)),
    implement(listOutgoingUsersOfOlderClients, ({ roomId }) => {
      const items = outgoing.list(roomId).map((device) => ({
        ...listedItem(device),
        room_id: device.roomId,
        user_id: device.userId,
        user_name: device.userName,
        user_address: device.userAddress,
      }))
      return { data: { total: items.length, items } }
    }),
  ]
}
