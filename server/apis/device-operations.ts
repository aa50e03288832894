import { deviceOperations } from '../../shared/device-operations.ts'
import { destroyUser, identityOf, listedItem } from '../devices/outgoing-answers.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import { type AnyOperation, implement } from '../http/operation.ts'

export interface DeviceServices {
  outgoing: OutgoingUsers
}

/** Returns the operations of the device API (specification, section 4.2). */
export function implementDeviceOperations({ outgoing }: DeviceServices): AnyOperation[] {
  return implement(deviceOperations, {
    create_outgoing_user: async (given) => ({ data: identityOf(await outgoing.creation.create(given)) }),
    destroy_outgoing_user: (given, { accessKey }) => destroyUser(outgoing, given, accessKey),
    list_outgoing_users: ({ roomId }) => {
      const items = outgoing.list(roomId).map(listedItem)
      return { data: { total: items.length, items } }
    },
  })
}
