import { sole } from '../sole-leadership.ts'
import { nodeSecretNames } from '../../../shared/node.ts'
import { nodeFiles } from '../../../server/nodes/janus/configuration/node-files.ts'
import type { JanusAccess } from '../../../server/nodes/secrets/janus-access.ts'
import type { JanusConfiguration } from './janus-configuration.ts'
import { type JanusServer, type JanusServerOptions, startJanus } from './janus-server.ts'

/** Node record with a secret of each kind, full of characters that need escaping in a file. */
export const safeSecrets = {
  api_secret: 'api "secret" \\ one',
  admin_secret: 'admin; secret = "two" #',
  admin_key: "admin /* key */ '三'",
  token_secret: 'token @include "secret"',
  room_key: 'r'.repeat(43),
  event_secret: 'e'.repeat(43),
}

/** Makes the configuration files that the product writes for a node, by name. */
export function productFiles(
  node: JanusAccess,
  { rtpPorts: [first, last] }: JanusConfiguration,
  events?: { backend: string; subprotocol: string },
): Record<string, string> {
  const middle = Math.floor((first + last) / 2)
  const files = nodeFiles({
    node,
    events,
    controllers: ['127.0.0.1'],
    adminAddress: '127.0.0.1',
    ports: { media: [first, middle], cameras: [middle + 1, last] },
  })
  return Object.fromEntries(files.map(({ name, text }) => [name, text]))
}

/** Starts a Janus with the configuration files that the product writes. */
export async function startSafeJanus(
  options: { events?: { backend: string; subprotocol: string } } & Pick<JanusServerOptions, 'files' | 'trusts'> = {},
): Promise<{ janus: JanusServer; access: JanusAccess }> {
  const { api_secret: api, admin_secret: admin, admin_key: adminKey, token_secret: tokenSecret } = safeSecrets
  const accessOf = ({ wsPort, adminPort }: JanusConfiguration): JanusAccess => ({
    name: 'hall',
    wsUrl: `ws://127.0.0.1:${wsPort}`,
    adminUrl: `http://127.0.0.1:${adminPort}/admin`,
    secrets: safeSecrets,
    given: nodeSecretNames,
    leadership: sole,
  })
  const janus = await startJanus({
    secrets: { api, admin, adminKey },
    tokenSecret,
    trusts: options.trusts,
    files: (_, configuration) => {
      const files = productFiles(accessOf(configuration), configuration, options.events)
      return options.files?.(files, configuration) ?? files
    },
  })
  return { janus, access: accessOf(janus.configuration) }
}
