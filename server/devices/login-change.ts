import type { LoginOutcome } from '../../shared/domain/camera-record.ts'
import type { OutgoingUsers } from './outgoing-users.ts'

/** Another login for a device. */
interface NewLogin {
  login_name: string
  login_password: string
  /** Saves it also if the device refuses it or does not answer. */
  always: boolean
}

/**
 * Tries a login at a device and saves it if the device accepts it. A refused one is tried once: devices lock accounts.
 * @param address of the device, as stored
 * @throws ApiError outgoingUserNotFound, parameter, storage
 */
export async function changeLogin(
  outgoing: Pick<OutgoingUsers, 'probe' | 'update'>,
  userId: string,
  address: string,
  { always, ...login }: NewLogin,
): Promise<LoginOutcome> {
  // With a known substream none is searched for.
  const { ok, kind, simulated } = await outgoing.probe({
    userAddress: address,
    assist_address: address,
    userId,
    ...login,
  })
  const accepted = ok && !simulated
  if (accepted || always) await outgoing.update(userId, login)
  return { saved: accepted || always, accepted, kind }
}
