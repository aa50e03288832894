import type { CredentialView } from '../../shared/console/credentials.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { authenticate } from '../../shared/media-operations.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { Settings } from '../../shared/settings.ts'
import type { Credentials } from '../access/credentials.ts'
import { digestText, hmacKey } from '../access/digest.ts'
import type { Listeners } from '../http/listeners.ts'
import type { StoredCredential } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { Trash } from '../store/trash.ts'
import type { ProcedureHandlers, ProceduresOf } from './handlers.ts'
import { deletionBy, undoOf } from './trash-procedures.ts'

export interface CredentialDependencies {
  credentials: Credentials
  trash: Trash
  credentialRooms: Pick<CredentialRooms, 'count'>
  settings: () => Settings
  listeners: Pick<Listeners, 'url'>
}

export function credentialHandlers(
  dependencies: CredentialDependencies,
): ProcedureHandlers<ProceduresOf<'credentials'>> {
  const { credentials, trash } = dependencies
  const view = (credential: StoredCredential): CredentialView =>
    credentials.view(credential, dependencies.credentialRooms.count(credential.access_key))
  return {
    'credentials.list': () => credentials.list().map(view),
    'credentials.create': async (input) => {
      const { credential, secret_key } = await credentials.create(input)
      return { credential: view(credential), secret_key }
    },
    'credentials.update': async ({ access_key, ...patch }) => view(await credentials.update(access_key, patch)),
    'credentials.rotate': async ({ access_key, secret_key: wanted, end_links: endLinks }) => {
      const { credential, secret_key } = await credentials.rotate(access_key, wanted, { endLinks })
      return { credential: view(credential), secret_key }
    },
    'credentials.reveal': ({ access_key }) => ({ secret_key: credentials.reveal(access_key) }),
    'credentials.delete': async ({ access_key }, origin) => {
      const deletion = deletionBy(origin)
      await credentials.delete(access_key, (transaction, record) =>
        trash.moveToTrash(transaction, { kind: 'credentials', record }, deletion),
      )
      return { undo: undoOf(trash, deletion) }
    },
    'credentials.end_sessions': async ({ access_key }) => ({ ended: await credentials.endSessions(access_key) }),
    'credentials.curl': ({ access_key }) => {
      const base = dependencies.listeners.url('media')
      if (base === '') throw new RefusalError(refusal('apiOff', { api: 'media' }))
      const [form = 'sha1-hex'] = dependencies.settings().access.digest_forms
      const digest = digestText(form, hmacKey(credentials.reveal(access_key)), access_key)
      const url = `${base}${authenticate.path}?access_key=${encodeURIComponent(access_key)}&digest=${encodeURIComponent(digest)}`
      return { url, digest, command: `curl '${url}'` }
    },
  }
}

/**
 * Number of existing rooms created by each credential. The constructor counts the rooms, and changes of the store
 * update the counts, so that a lookup is O(1).
 */
export class CredentialRooms {
  readonly #creatorOf = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  readonly #stop: () => void

  constructor(store: Pick<Store, 'all' | 'onChange'>) {
    for (const room of store.all('rooms').values()) this.#set(room.room_id, room.created_by)
    this.#stop = store.onChange(
      (changes) => {
        for (const change of changes) if (change.collection === 'rooms') this.#set(change.key, change.value?.created_by)
      },
      ['rooms'],
    )
  }

  count(accessKey: string): number {
    return this.#counts.get(accessKey) ?? 0
  }

  close(): void {
    this.#stop()
  }

  #set(roomId: string, creator: string | undefined): void {
    const before = this.#creatorOf.get(roomId)
    if (before === creator) return
    if (before !== undefined) this.#counts.set(before, (this.#counts.get(before) ?? 1) - 1)
    if (creator === undefined) this.#creatorOf.delete(roomId)
    else {
      this.#creatorOf.set(roomId, creator)
      this.#counts.set(creator, (this.#counts.get(creator) ?? 0) + 1)
    }
  }
}
