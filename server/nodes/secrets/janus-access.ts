import { createHmac, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { hiddenSecret } from '../../../shared/hidden-secret.ts'
import { type NodeConfig, type NodeInput, type NodeSecretName, nodeSecretNames } from '../../../shared/node.ts'
import { tokenKinds } from '../../../shared/tokens.ts'
import { issueToken } from '../../../shared/files/signed-tokens.ts'
import { nodePlace } from '../../store/sealed-places.ts'
import type { StoredNode } from '../../store/records.ts'
import type { Leadership, Store } from '../../store/store.ts'

/** Base64url of 32 bytes. */
const key = z.string().min(43)

/** Secrets of a Janus node. An empty secret was not set by the operator. */
const secretsSchema = z.strictObject({
  /** Secret sent with every request of the controller over WebSocket. */
  api_secret: z.string(),
  /** Secret sent with every request to the Admin API. */
  admin_secret: z.string(),
  /** Key required to create a room or a mountpoint. */
  admin_key: z.string(),
  /** Key that signs the tokens of people. */
  token_secret: z.string(),
  /**
   * Key from which the secrets of rooms and mountpoints are derived, so that a restarted controller derives the same
   * secrets. Generated once.
   */
  room_key: key,
  /** Secret that the node sends when it connects to deliver its events. Generated once. */
  event_secret: key,
})
export type JanusSecrets = z.output<typeof secretsSchema>

type NodeTargets = Pick<NodeConfig, 'ws_url' | 'admin_url'>

/** Connection data of a node. */
export interface JanusFacts {
  name: string
  wsUrl: string
  /** URL of the Admin API, without a trailing slash; empty: the Admin API is not used. */
  adminUrl: string
  /** Secrets in use, none of which is empty. */
  secrets: JanusSecrets
  /** Names of the secrets that the operator set; the others were derived. */
  given: readonly NodeSecretName[]
}

/** Connection data of a node for its driver. */
export interface JanusAccess extends JanusFacts {
  /** Confirms that this controller may still send requests to the node. */
  leadership: Confirms
}

/** Proof that this controller may send requests to a node. */
export type Confirms = Pick<Leadership, 'confirmed'>

/**
 * Returns the access to a node.
 * @throws ApiError 'internal' if the secrets cannot be unsealed
 */
export function janusAccess(node: StoredNode, store: Pick<Store, 'unseal' | 'leadership'>): JanusAccess {
  return { ...janusFacts(node, store), leadership: store.leadership }
}

/**
 * Returns the connection data of a node.
 * @throws ApiError 'internal' if the secrets cannot be unsealed
 */
export function janusFacts(node: StoredNode, store: Pick<Store, 'unseal'>): JanusFacts {
  const { name, ws_url: wsUrl, admin_url } = node
  const secrets = janusSecretsOf(node, store)
  const given = nodeSecretNames.filter((secret) => secrets[secret] !== '')
  const adminUrl = admin_url.replace(/\/+$/, '')
  return { name, wsUrl, adminUrl, secrets: secretsInUse(secrets), given }
}

/**
 * Replaces each secret that the operator did not set by a secret derived from the node's key. The generated
 * configuration files contain the same secrets. A node with another configuration does not require these secrets.
 */
function secretsInUse(secrets: JanusSecrets): JanusSecrets {
  const made = (name: NodeSecretName): string =>
    secrets[name] || createHmac('sha256', secrets.room_key).update(`roomdesk ${name}`).digest('base64url')
  return {
    ...secrets,
    api_secret: made('api_secret'),
    admin_secret: made('admin_secret'),
    admin_key: made('admin_key'),
    token_secret: made('token_secret'),
  }
}

/**
 * Returns the unsealed secrets of a Janus node.
 * @throws ApiError 'internal' if they cannot be unsealed
 */
export function janusSecretsOf(
  node: Pick<StoredNode, 'name' | 'kind' | 'ws_url' | 'admin_url' | 'secrets_sealed'>,
  store: Pick<Store, 'unseal'>,
): JanusSecrets {
  return secretsSchema.parse(JSON.parse(store.unseal(node.secrets_sealed, nodePlace(node))))
}

/** Returns whether both nodes have the same addresses. The operator's secrets are never sent to other addresses. */
export function isSameServer(one: NodeTargets, other: NodeTargets): boolean {
  return one.ws_url === other.ws_url && one.admin_url === other.admin_url
}

/** Returns whether each address of a Janus node has the same host as before, or was empty. */
function isSameHost(before: NodeTargets, after: NodeTargets): boolean {
  const host = (text: string): string | undefined => URL.parse(text)?.hostname
  const same = (was: string, is: string): boolean => was === '' || is === '' || host(was) === host(is)
  return same(before.ws_url, after.ws_url) && same(before.admin_url, after.admin_url)
}

/**
 * Returns the sealed secrets of a Janus node that is added or changed. A secret that is left out, or sent back in its
 * hidden form, is kept. If no secret changed, the sealed text stays the same. If the addresses changed, the operator's
 * secrets are discarded; if a host changed, the generated secrets are replaced as well.
 * @throws ApiError 'internal' if the previous secrets cannot be unsealed
 */
export function janusSecretsAfter(
  input: NodeTargets & Pick<NodeInput, 'name' | 'kind' | NodeSecretName>,
  before: StoredNode | undefined,
  store: Pick<Store, 'seal' | 'unseal'>,
): string {
  const stays = before !== undefined && isSameServer(before, input)
  const isReadable = before !== undefined && before.secrets_sealed !== '' && isSameHost(before, input)
  const old = isReadable ? janusSecretsOf(before, store) : undefined
  const secret = (name: NodeSecretName): string => {
    const given = input[name]
    return given === undefined || given === hiddenSecret ? (stays ? (old?.[name] ?? '') : '') : given
  }
  const after: JanusSecrets = {
    api_secret: secret('api_secret'),
    admin_secret: secret('admin_secret'),
    admin_key: secret('admin_key'),
    token_secret: secret('token_secret'),
    room_key: old?.room_key ?? randomBytes(32).toString('base64url'),
    event_secret: old?.event_secret ?? randomBytes(32).toString('base64url'),
  }
  const same = stays && old !== undefined && nodeSecretNames.every((name) => old[name] === after[name])
  return same ? before.secrets_sealed : store.seal(JSON.stringify(after), nodePlace(input))
}

/**
 * Returns a generator of tokens for a session of the controller; undefined for a node without a token secret. Each
 * token is used once; its lifetime allows for differing clocks.
 */
export function controllerToken(
  { token_secret }: Pick<JanusSecrets, 'token_secret'>,
  clock: () => number = Date.now,
): (() => string) | undefined {
  if (token_secret === '') return undefined
  return () => {
    const expiresAt = Math.ceil((clock() + tokenKinds['janus-controller'].lifetime.ms) / 1_000)
    return issueToken('janus-controller', token_secret, { expiresAt })
  }
}

/**
 * Derives a secret for one object on the node, in base64url. Every controller that has the node's record derives the
 * same secret.
 * @param purpose e.g. `room`
 */
export function derivedSecret({ room_key }: Pick<JanusSecrets, 'room_key'>, purpose: string, name: string): string {
  return createHmac('sha256', room_key).update(`${purpose}\n${name}`).digest('base64url')
}

/**
 * Returns the mark in the description of every room of this site, which distinguishes these rooms from other rooms on
 * the same Janus.
 */
export function ownMark(secrets: Pick<JanusSecrets, 'room_key'>): string {
  return `roomdesk ${derivedSecret(secrets, 'mark', '').slice(0, 12)}`
}

/**
 * Returns the path of the event port to which a node connects. The node sends its `event_secret` as the WebSocket's
 * subprotocol.
 */
export function eventPath(node: string): string {
  return `/janus/${encodeURIComponent(node)}`
}
