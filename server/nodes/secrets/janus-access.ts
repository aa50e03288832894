import { createHmac, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { hiddenSecret } from '../../../shared/hidden-secret.ts'
import { type NodeConfig, type NodeInput, type NodeSecretName, nodeSecretNames } from '../../../shared/node.ts'
import { nodePlace } from '../../store/sealed-places.ts'
import type { StoredNode } from '../../store/records.ts'
import type { Leadership, Store } from '../../store/store.ts'

/** Base64url of 32 bytes. */
const key = z.string().min(43)

/** Secrets of a Janus node. An empty one of the operator's counts as none. */
const secretsSchema = z.strictObject({
  /** Sent with every request of ours over WebSocket. */
  api_secret: z.string(),
  /** Sent with every request to the Admin API. */
  admin_secret: z.string(),
  /** Required to create a room or a mountpoint. */
  admin_key: z.string(),
  /** Signs the tokens of people. */
  token_secret: z.string(),
  /** The secrets of rooms and mountpoints are derived from it, so that a controller that started again knows them. Made once. */
  room_key: key,
  /** Shown by the node where it sends its events. Made once. */
  event_secret: key,
})
export type JanusSecrets = z.output<typeof secretsSchema>

type NodeTargets = Pick<NodeConfig, 'ws_url' | 'admin_url'>

/** Facts that a driver knows about its node. */
export interface JanusFacts {
  name: string
  wsUrl: string
  /** Without a slash at its end; empty: the node is not reached by its Admin API. */
  adminUrl: string
  /** None is empty. */
  secrets: JanusSecrets
  /** Those of them that the operator gave; others were made. */
  given: readonly NodeSecretName[]
}

/** How a node is reached by its driver. */
export interface JanusAccess extends JanusFacts {
  /** Whether this controller may still act there. */
  leadership: Confirms
}

/** Proof that this controller may act on a node. */
export type Confirms = Pick<Leadership, 'confirmed'>

/** @throws ApiError 'internal' when the secrets cannot be unsealed */
export function janusAccess(node: StoredNode, store: Pick<Store, 'unseal' | 'leadership'>): JanusAccess {
  return { ...janusFacts(node, store), leadership: store.leadership }
}

/** @throws ApiError 'internal' when the secrets cannot be unsealed */
export function janusFacts(node: StoredNode, store: Pick<Store, 'unseal'>): JanusFacts {
  const { name, ws_url: wsUrl, admin_url } = node
  const secrets = janusSecretsOf(node, store)
  const given = nodeSecretNames.filter((secret) => secrets[secret] !== '')
  const adminUrl = admin_url.replace(/\/+$/, '')
  return { name, wsUrl, adminUrl, secrets: secretsInUse(secrets), given }
}

/**
 * Replaces each secret that the operator left out by one derived from the node's key, as its configuration files have it. A node without that configuration does not ask for it.
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

/** The opened secrets of a Janus node. @throws ApiError 'internal' when they cannot be unsealed */
export function janusSecretsOf(
  node: Pick<StoredNode, 'name' | 'kind' | 'ws_url' | 'admin_url' | 'secrets_sealed'>,
  store: Pick<Store, 'unseal'>,
): JanusSecrets {
  return secretsSchema.parse(JSON.parse(store.unseal(node.secrets_sealed, nodePlace(node))))
}

/** Whether the addresses of a Janus node are the same as before: the secrets of the operator are sent to no others. */
export function isSameServer(one: NodeTargets, other: NodeTargets): boolean {
  return one.ws_url === other.ws_url && one.admin_url === other.admin_url
}

/** Whether each address of a Janus node names the same host as before, or there was none. */
function isSameHost(before: NodeTargets, after: NodeTargets): boolean {
  const host = (text: string): string | undefined => URL.parse(text)?.hostname
  const same = (was: string, is: string): boolean => was === '' || is === '' || host(was) === host(is)
  return same(before.ws_url, after.ws_url) && same(before.admin_url, after.admin_url)
}

/**
 * The sealed secrets of a Janus node that is added or changed: each that is left out, or sent back as it is shown, stays. The text stays as well when no secret is another. With other
 * addresses, the operator's secrets are discarded; on another host, those that were made are made anew.
 * @throws ApiError 'internal' when those of before cannot be unsealed
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

/** A secret of one thing on the node, the same for every controller that has the node's record; base64url. @param purpose e.g. `room` */
export function derivedSecret({ room_key }: Pick<JanusSecrets, 'room_key'>, purpose: string, name: string): string {
  return createHmac('sha256', room_key).update(`${purpose}\n${name}`).digest('base64url')
}

/** Mark in the description of every room and mountpoint of ours, which tells them from those of others on the same Janus. */
export function ownMark(secrets: Pick<JanusSecrets, 'room_key'>): string {
  return `roomdesk ${derivedSecret(secrets, 'mark', '').slice(0, 12)}`
}

/** Path of the event port to which a node sends its events; it shows its `event_secret` as the WebSocket's subprotocol. */
export function eventPath(node: string): string {
  return `/janus/${encodeURIComponent(node)}`
}
