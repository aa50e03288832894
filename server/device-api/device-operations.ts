import { createOutgoingUser, destroyOutgoingUser, listOutgoingUsers } from '../../shared/device-operations.ts'
import { listedOptions } from '../devices/device-options.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import { type AnyOperation, implement } from '../http/operation.ts'

/** What the device API's operations work with. */
export interface DeviceServices {
  outgoing: OutgoingUsers
}

/** The operations of the device API (specification, section 4.2). */
export function deviceOperations({ outgoing }: DeviceServices): AnyOperation[] {
  return [
    implement(createOutgoingUser, async (given) => {
      const { roomId, userId } = await outgoing.create(given)
      return { data: { roomId, userId } }
    }),
    implement(destroyOutgoingUser, async ({ roomId, userId, userAddress }) => {
      await outgoing.destroy(roomId, userId, userAddress)
      return { data: { roomId, userId } }
    }),
    implement(listOutgoingUsers, ({ roomId }) => {
      const devices = outgoing.list(roomId)
      const items = devices.map((device) => ({
        roomId: device.roomId,
        userId: device.userId,
        userName: device.userName,
        userAddress: device.userAddress,
        userData: device.userData,
        options: listedOptions(device),
      }))
      return { data: { total: items.length, items } }
    }),
  ]
}
