import { addressShare } from '../../../shared/client-address.ts'
import { RateLimit } from '../../../shared/rate-limit.ts'
import type { StoredAccount } from '../../store/records.ts'
import { type Accounts, folded } from './accounts.ts'
import { TooManyWaitingError } from './password-hash.ts'

/** Verdict on a name and a password. In a refusal, `account` is the account with this name, for the event log only. */
export type SignInVerdict =
  | { verdict: 'right'; account: StoredAccount }
  | { verdict: 'wrong'; account: StoredAccount | undefined }
  /** `retryAfter` is in seconds. */
  | { verdict: 'blocked'; retryAfter: number; account: StoredAccount | undefined }

const minute = 60_000
/** Delay before a retry if too many sign-ins are queued, in seconds. */
const busySeconds = 5

/**
 * Checks names and passwords. Failed attempts are counted per account and client address, and per client address. A
 * client above a limit is rejected until the minute has passed. Clients at other addresses are not affected.
 */
export class SignIn {
  readonly #accounts: Accounts
  readonly #ofPair: RateLimit
  readonly #ofAddress: RateLimit

  /** @param now milliseconds of a monotonic clock */
  constructor(accounts: Accounts, now?: () => number) {
    this.#accounts = accounts
    const clock = now === undefined ? {} : { now }
    this.#ofPair = new RateLimit({ max: 5, windowMs: minute, ...clock })
    this.#ofAddress = new RateLimit({ max: 20, windowMs: minute, ...clock })
  }

  /** Checks a name and a password. @param client result of `clientAddress` */
  async judge(client: string, name: string, password: string): Promise<SignInVerdict> {
    const account = this.#accounts.named(name)
    const address = addressShare(client)
    const pair = `${address} ${folded(name)}`
    const wait = Math.max(this.#ofPair.retryAfterMs(pair), this.#ofAddress.retryAfterMs(address))
    if (wait > 0) return { verdict: 'blocked', retryAfter: Math.ceil(wait / 1_000), account }
    // Counted before hashing, so that concurrent attempts count like sequential ones.
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

  /** Returns undefined if too many hashes are queued. */
  async #isRight(account: StoredAccount | undefined, password: string): Promise<boolean | undefined> {
    try {
      return await this.#accounts.isPassword(account, password)
    } catch (error) {
      if (error instanceof TooManyWaitingError) return undefined
      throw error
    }
  }

  /** Whether the account is still enabled and unchanged: it may have been changed during hashing. */
  #isStill({ id, stamp }: StoredAccount): boolean {
    const now = this.#accounts.list().find((account) => account.id === id)
    return now?.enabled === true && now.stamp === stamp
  }

  #giveBack(pair: string, address: string): void {
    this.#ofPair.giveBack(pair)
    this.#ofAddress.giveBack(address)
  }
}
