import { randomBytes } from 'node:crypto'
import type { z } from 'zod'
import type { CredentialView, credentialInput } from '../../shared/console/credentials.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { sealedPlaceOf } from '../store/sealed-places.ts'
import { versionOf } from '../store/record-edits.ts'
import type { StoredCredential } from '../store/records.ts'
import type { Store, Transaction } from '../store/store.ts'
import type { Sessions } from './sessions.ts'

/** Credential as specified by an operator or a site file. */
export type CredentialInput = z.output<typeof credentialInput>
/** Fields that an operator may change. */
export interface CredentialPatch {
  label?: string | undefined
  enabled?: boolean | undefined
  p2p?: boolean | undefined
}
/** Credential with its secret, which is shown after its creation. */
export interface CredentialWithSecret {
  credential: StoredCredential
  secret_key: string
}

/**
 * Key pairs with which clients authenticate. Every change is durable when its promise resolves. A change that removes
 * or disables a credential, or changes its secret, also ends the credential's sessions. Every method rejects with
 * ApiError 'storage' if the store fails.
 */
export class Credentials {
  readonly #store: Store
  readonly #sessions: Sessions
  readonly #now: () => number

  /** @param now milliseconds since the epoch */
  constructor(store: Store, sessions: Sessions, now: () => number = Date.now) {
    this.#store = store
    this.#sessions = sessions
    this.#now = now
  }

  /** Lists the credentials, in order of creation. */
  list(): StoredCredential[] {
    return [...this.#store.all('credentials').values()]
  }

  /** @throws RefusalError 'notFound' */
  get(accessKey: string): StoredCredential {
    const credential = this.#store.get('credentials', accessKey)
    if (credential === undefined) throw new RefusalError(refusal('credentialNotFound'))
    return credential
  }

  /** Returns a credential for the console. @param rooms number of existing rooms that the credential created */
  view(credential: StoredCredential, rooms: number): CredentialView {
    const { access_key, label, enabled, p2p, created_at, rotated_at } = credential
    return {
      access_key,
      label,
      enabled,
      p2p,
      created_at,
      rotated_at,
      last_used_at: this.#sessions.lastUsedAt(access_key),
      sessions: this.#sessions.count(access_key),
      rooms,
      version: versionOf('credential', credential),
    }
  }

  /**
   * Creates a credential; missing keys are generated at random.
   * @throws RefusalError 'conflict' if the access_key is in use or there are too many credentials
   */
  create(input: CredentialInput): Promise<CredentialWithSecret> {
    const accessKey = input.access_key ?? randomBytes(12).toString('hex')
    const secret = input.secret_key ?? randomBytes(32).toString('hex')
    const { label, enabled, p2p } = input
    return this.#store.transact(['credentials', lockOf(accessKey)], (transaction) => {
      if (this.#store.get('credentials', accessKey) !== undefined) {
        throw new RefusalError(refusal('credentialExists'), { fields: ['access_key'] })
      }
      const now = this.#now()
      const secret_key_sealed = this.#store.seal(secret, sealedPlaceOf('credentials', accessKey))
      const credential: StoredCredential = {
        access_key: accessKey,
        secret_key_sealed,
        label,
        enabled,
        p2p,
        created_at: now,
        rotated_at: now,
      }
      transaction.put('credentials', accessKey, credential)
      return { credential, secret_key: secret }
    })
  }

  /**
   * Changes label, state or permission. Disabling a credential ends its sessions.
   * @throws RefusalError 'notFound'
   */
  update(accessKey: string, patch: CredentialPatch): Promise<StoredCredential> {
    const plan = (transaction: Transaction) => {
      const old = this.get(accessKey)
      const credential: StoredCredential = {
        ...old,
        label: patch.label ?? old.label,
        enabled: patch.enabled ?? old.enabled,
        p2p: patch.p2p ?? old.p2p,
      }
      if (credential.label === old.label && credential.enabled === old.enabled && credential.p2p === old.p2p) return old
      transaction.put('credentials', accessKey, credential)
      if (!credential.enabled) this.#endSessions(transaction, accessKey)
      return credential
    }
    if (patch.enabled !== false) return this.#store.transact([lockOf(accessKey)], plan)
    return this.#ending(accessKey, 'its credential was disabled', plan)
  }

  /**
   * Replaces the secret by the given one, or by a generated one, and ends the sessions.
   * @param options.endLinks whether to end the credential's links, live streams and recordings, in the same transaction
   * @throws RefusalError 'notFound'
   */
  rotate(
    accessKey: string,
    secret: string = randomBytes(32).toString('hex'),
    { endLinks = false }: { endLinks?: boolean } = {},
  ): Promise<CredentialWithSecret> {
    return this.#ending(accessKey, 'its credential got a new secret', (transaction) => {
      const old = this.get(accessKey)
      const credential: StoredCredential = {
        ...old,
        secret_key_sealed: this.#store.seal(secret, sealedPlaceOf('credentials', accessKey)),
        rotated_at: this.#now(),
        // The store ends everything created by an earlier generation.
        ...(endLinks && { generation: (old.generation ?? 0) + 1 }),
      }
      transaction.put('credentials', accessKey, credential)
      this.#endSessions(transaction, accessKey)
      return { credential, secret_key: secret }
    })
  }

  /**
   * Returns the secret.
   * @throws RefusalError 'notFound'
   */
  reveal(accessKey: string): string {
    return this.#store.unseal(this.get(accessKey).secret_key_sealed, sealedPlaceOf('credentials', accessKey))
  }

  /**
   * Deletes a credential and ends its sessions. Its rooms stay.
   * @param moveToTrash moves the record to the trash, in the same transaction
   * @throws RefusalError 'notFound'
   */
  delete(
    accessKey: string,
    moveToTrash: (transaction: Transaction, record: StoredCredential) => void = () => {},
  ): Promise<void> {
    return this.#ending(accessKey, 'its credential was deleted', (transaction) => {
      moveToTrash(transaction, this.get(accessKey))
      transaction.delete('credentials', accessKey)
      this.#endSessions(transaction, accessKey)
    })
  }

  /**
   * Ends the sessions of a credential and returns their number.
   * @throws RefusalError 'notFound'
   */
  endSessions(accessKey: string): Promise<number> {
    return this.#ending(accessKey, 'the operator ended it', (transaction) => {
      this.get(accessKey)
      return this.#endSessions(transaction, accessKey)
    })
  }

  /**
   * Creates or changes a credential to match a site file. Without access_key, the credential is identified by its
   * label. Writes nothing if nothing differs.
   */
  async ensure(input: CredentialInput): Promise<StoredCredential> {
    const old =
      input.access_key === undefined
        ? this.list().find(({ label }) => label === input.label)
        : this.#store.get('credentials', input.access_key)
    if (old === undefined) return (await this.create(input)).credential
    const { access_key: accessKey } = old
    if (input.secret_key !== undefined && input.secret_key !== this.reveal(accessKey)) {
      await this.rotate(accessKey, input.secret_key)
    }
    return this.update(accessKey, { label: input.label, enabled: input.enabled, p2p: input.p2p })
  }

  #ending<T>(accessKey: string, reason: string, plan: (transaction: Transaction) => T): Promise<T> {
    return this.#sessions.whileFrozen(accessKey, reason, () => this.#store.transact([lockOf(accessKey)], plan))
  }

  #endSessions(transaction: Transaction, accessKey: string): number {
    const keys = this.#sessions.keys(accessKey)
    for (const key of keys) transaction.delete('sessions', key)
    return keys.length
  }
}

function lockOf(accessKey: string): string {
  return `credentials/${accessKey}`
}
