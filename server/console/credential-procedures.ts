import type { CredentialView } from '../../shared/console/credentials.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { authenticate } from '../../shared/media-operations.ts'
import type { Settings } from '../../shared/settings.ts'
import type { Credentials } from '../access/credentials.ts'
import { digestText, hmacKey } from '../access/digest.ts'
import type { StoredCredential } from '../store/records.ts'
import type { Trash } from '../store/trash/trash.ts'
import type { ProcedureHandlers, ProceduresOf } from './handlers.ts'
import { deletionBy, undoOf } from './trash-procedures.ts'
import type { Listeners } from '../http/listeners.ts'
import type { CredentialRooms } from './credential-rooms.ts'

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
