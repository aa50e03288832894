import { test } from 'vitest'
import { documentedCredential, runDocumentedClient } from '../support/clients/documented-clients.ts'
import { shared } from '../support/fixtures.ts'
import { MediaSite } from '../support/sites/media-site.ts'

const site = shared(() =>
  MediaSite.start({ credential: documentedCredential, nodes: [{ name: 'lab', kind: 'simulated' }] }),
)

// `npm run faults -- clients` runs the languages that are not installed everywhere.
test.for(['Client kit', 'JavaScript', 'Python'] as const)(
  'The program for %s in docs/integrate/languages.md signs in, creates a room, lists its users and deletes it',
  async (language, context) => await runDocumentedClient(language, site(), context),
)
