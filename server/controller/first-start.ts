import { randomBytes } from 'node:crypto'
import { defaultSettings } from '../../shared/settings.ts'
import { nodeConfigSchema } from '../../shared/node.ts'
import { newNodeSecrets } from '../nodes/secrets/node-secrets.ts'
import { sealedPlaceOf } from '../store/sealed-places.ts'
import { putSettings } from '../store/site-settings.ts'
import type { Store } from '../store/store.ts'

/** Credential and node created by a first start, to be shown to the operator. */
export interface FirstStart {
  accessKey: string
  nodeName: string
}

/** Whether the site is new: every start stores the settings, so a site without settings is new. */
export function isFirstStart(store: Store): boolean {
  return store.get('settings', 'site') === undefined
}

/** Stores the settings, so that the next start is not a first start. */
export async function rememberStart(store: Store): Promise<void> {
  await store.transact(['settings'], (transaction) => {
    if (isFirstStart(store)) putSettings(transaction, defaultSettings(), store)
  })
}

/** Creates what a new site needs to serve a client: a credential and the embedded node, in one transaction. */
export async function makeFirstSite(store: Store, now = Date.now()): Promise<FirstStart> {
  const accessKey = randomBytes(12).toString('hex')
  const node = nodeConfigSchema.parse({ name: 'This machine', kind: 'embedded' })
  await store.transact(['settings', 'credentials', 'nodes'], (transaction) => {
    putSettings(transaction, defaultSettings(), store)
    transaction.put('credentials', accessKey, {
      access_key: accessKey,
      secret_key_sealed: store.seal(randomBytes(32).toString('hex'), sealedPlaceOf('credentials', accessKey)),
      label: 'First client',
      enabled: true,
      p2p: true,
      created_at: now,
      rotated_at: now,
    })
    const secrets_sealed = newNodeSecrets(node, store)
    transaction.put('nodes', node.name, { ...node, created_at: now, draining: false, secrets_sealed })
  })
  return { accessKey, nodeName: node.name }
}
