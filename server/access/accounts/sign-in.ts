import { addressShare } from '../../../shared/client-address.ts'
import { RateLimit } from '../../../shared/rate-limit.ts'
import type { StoredAccount } from '../../store/records.ts'
import { type Accounts, folded } from './accounts.ts'
import { TooManyWaitingError } from './password-hash.ts'

/** Verdict on a name and a password. `account` of a refusal is the account that was meant, for the event log only. */
export type SignInVerdict =
  | { verdict: 'right'; account: StoredAccount }
  | { verdict: 'wrong'; account: StoredAccount | undefined }
  /** `retryAfter` is in seconds. */
  | { verdict: 'blocked'; retryAfter: number; account: StoredAccount | undefined }

const minute = 60_000
/** When too many wait at once, in seconds. */
const busySeconds = 5

/**
 * Judges names and passwords. Wrong ones are counted for each account as one address tries it, and for each address; who is past a limit
 * waits until its minute is over, and nobody at another address notices.
 */
export class SignIn {
  readonly #accounts: Accounts
  readonly #ofPair: RateLimit
  readonly #ofAddress: RateLimit

  /** @param now milliseconds of a clock that is never set */
  constructor(accounts: Accounts, now?: () => number) {
    this.#accounts = accounts
    const clock = now === undefined ? {} : { now }
    this.#ofPair = new RateLimit({ most: 5, windowMs: minute, ...clock })
    this.#ofAddress = new RateLimit({ most: 20, windowMs: minute, ...clock })
  }

  /** @param client as `clientAddress` says it */
  async judge(client: string, name: string, password: string): Promise<SignInVerdict> {
    const account = this.#accounts.named(name)
    const address = addressShare(client)
    const pair = `${address} ${folded(name)}`
    const wait = Math.max(this.#ofPair.retryAfterMs(pair), this.#ofAddress.retryAfterMs(address))
    if (wait > 0) return { verdict: 'blocked', retryAfter: Math.ceil(wait / 1_000), account }
    // Counted before the hash is made: those that come at once are as many as those that come one by one.
    this.#ofPair.take(pair)
    this.#ofAddress.take(address)
    const right = await this.#isRight(account, password)
    if (right === undefined) {
      this.#giveBack(pair, address)
      return { verdict: 'blocked', retryAfter: busySeconds, account }
    }
    if (!right || account === undefined || !this.#isStill(account)) return { verdict: 'wrong', account }
    this.#giveBack(pair, address)
    return { verdict: 'right', account }
  }

  /** Undefined: too many wait for a turn. */
  async #isRight(account: StoredAccount | undefined, password: string): Promise<boolean | undefined> {
    try {
      return await this.#accounts.isPassword(account, password)
    } catch (error) {
      if (error instanceof TooManyWaitingError) return undefined
      throw error
    }
  }

  /** It may have been disabled, or given another password, while the hash was made. */
  #isStill({ id, stamp }: StoredAccount): boolean {
    const now = this.#accounts.list().find((account) => account.id === id)
    return now?.enabled === true && now.stamp === stamp
  }

  #giveBack(pair: string, address: string): void {
    this.#ofPair.giveBack(pair)
    this.#ofAddress.giveBack(address)
  }
}
