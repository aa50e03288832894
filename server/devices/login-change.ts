import type { LoginOutcome } from '../../shared/domain/camera-record.ts'
import type { OutgoingUsers } from './outgoing-users.ts'

interface NewLogin {
  login_name: string
  login_password: string
  /** Whether to save the login even if the device rejects it or does not respond. */
  always: boolean
}

/**
 * Tries a login at a device, and saves it if the device accepts it. Tries only once, because devices lock accounts.
 * @param address stored address of the device
 * @throws ApiError outgoingUserNotFound, parameter, storage
 */
export async function changeLogin(
  outgoing: Pick<OutgoingUsers, 'probe' | 'update'>,
  userId: string,
  address: string,
  { always, ...login }: NewLogin,
): Promise<LoginOutcome> {
  // If a substream is specified, the probe does not search for one.
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
