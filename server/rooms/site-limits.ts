import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { PresenceView } from '../nodes/pool/state/presence.ts'
import type { StoredRoom } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { caps } from '../store/transactions/collection-caps.ts'

export interface SiteLimitsOptions {
  store: Store
  licence: { expired(): boolean }
  pool: { readonly presence: Pick<PresenceView, 'totals'> }
}

/** Limits of the licence, the credential and the site. */
export class SiteLimits {
  readonly #options: SiteLimitsOptions

  constructor(options: SiteLimitsOptions) {
    this.#options = options
  }

  /** Checks the expiry of the licence. @throws ApiError licenceExpired */
  checkLicence(): void {
    if (this.#options.licence.expired()) throw new ApiError('licenceExpired')
  }

  /**
   * Checks that a credential may use a room mode. Modes 3 and 4 are peer-to-peer and require a permission of the
   * credential. The operator (empty access_key) has this permission.
   * @throws ApiError noP2pPermission
   */
  checkMode(mode: StoredRoom['room_mode'], accessKey: string): void {
    if (mode < 3 || accessKey === '') return
    if (this.#options.store.get('credentials', accessKey)?.p2p !== true) throw new ApiError('noP2pPermission')
  }

  /**
   * Checks that one more room is allowed. The transaction that creates the room checks this again. This earlier check
   * ensures the required order of errors.
   * @throws ApiError licenceExceeded
   */
  checkRooms(): void {
    const { store } = this.#options
    for (const { limit, refuse } of caps.rooms) {
      const max = limit({ licence: store.all('licence') })
      if (store.all('rooms').size >= max) throw refuse(max)
    }
  }

  /**
   * Checks that one more user is allowed.
   * @param joining number of users currently joining
   * @throws ApiError licenceExceeded
   */
  checkUsers(joining: number): void {
    const { store, pool } = this.#options
    const maxUsers = store.get('licence', 'site')?.max_users ?? 0
    if (maxUsers === 0) return
    const { people, devices } = pool.presence.totals()
    if (people + devices + joining >= maxUsers) {
      throw new ApiError('licenceExceeded', { refusal: refusal('licenceUsers') })
    }
  }
}
