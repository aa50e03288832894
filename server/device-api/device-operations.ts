import type { z } from 'zod'
import { createOutgoingUser, destroyOutgoingUser, listOutgoingUsers } from '../../shared/device-operations.ts'
import { listedOptions } from '../devices/device-options.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import { type AnyOperation, implement } from '../http/operation.ts'
import type { StoredDevice } from '../store/records.ts'

type Identity = z.output<typeof createOutgoingUser.success>['data']
type ListedItem = z.output<typeof listOutgoingUsers.success>['data']['items'][number]

/** What the device API's operations work with. */
export interface DeviceServices {
  outgoing: OutgoingUsers
}

/** The operations of the device API (specification, section 4.2). */
export function deviceOperations({ outgoing }: DeviceServices): AnyOperation[] {
  return [
    implement(createOutgoingUser, async (given) => ({ data: identityOf(await outgoing.create(given)) })),
    implement(destroyOutgoingUser, (given) => destroyUser(outgoing, given)),
    implement(listOutgoingUsers, ({ roomId }) => {
      const items = outgoing.list(roomId).map(listedItem)
      return { data: { total: items.length, items } }
    }),
  ]
}

/** Who an outgoing user is. */
export function identityOf({ roomId, userId }: Identity): Identity {
  return { roomId, userId }
}

/** @throws ApiError as OutgoingUsers.destroy does */
export async function destroyUser(
  outgoing: OutgoingUsers,
  { roomId, userId, userAddress }: z.output<typeof destroyOutgoingUser.params>,
): Promise<{ data: Identity }> {
  await outgoing.destroy(roomId, userId, userAddress)
  return { data: { roomId, userId } }
}

/** An outgoing user as it is listed. */
export function listedItem(device: StoredDevice): ListedItem {
  return {
    roomId: device.roomId,
    userId: device.userId,
    userName: device.userName,
    userAddress: device.userAddress,
    userData: device.userData,
    options: listedOptions(device),
  }
}
