import type { z } from 'zod'
import type { createOutgoingUser, destroyOutgoingUser, listOutgoingUsers } from '../../shared/device-operations.ts'
import type { StoredDevice } from '../store/records.ts'
import { byClient } from '../store/trash.ts'
import { listedOptions } from './device-options.ts'
import type { OutgoingUsers } from './outgoing-users.ts'

type Identity = z.output<typeof createOutgoingUser.success>['data']
type ListedItem = z.output<typeof listOutgoingUsers.success>['data']['items'][number]

/** Returns the room id and user id of a device, as in API responses. */
export function identityOf({ roomId, userId }: Identity): Identity {
  return { roomId, userId }
}

/** Removes a device, and returns its identity. @throws the errors of OutgoingUsers.destroy */
export async function destroyUser(
  outgoing: OutgoingUsers,
  { roomId, userId, userAddress }: z.output<typeof destroyOutgoingUser.params>,
  accessKey: string,
): Promise<{ data: Identity }> {
  await outgoing.destroy(roomId, userId, userAddress, byClient(accessKey))
  return { data: { roomId, userId } }
}

/** Returns a device as in the API's list (specification, section 4.2). */
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
