import { z } from 'zod'
import type { JanusPlugin } from './janus-handle.ts'

/** Facts that a node reports without authentication. */
export interface ServerInfo {
  /** Version of Janus, e.g. `1.1.2`. */
  version: string
  /** Full package names, e.g. `janus.plugin.videoroom`. */
  packages: string[]
  /** Short names without `janus.plugin.`, sorted. */
  plugins: string[]
  /** Whether the node lists its libraries. */
  tellsDependencies: boolean
  /** Whether each message must contain a token. */
  asksForTokens: boolean
}

/** Plugins that rooms and cameras need. */
export const neededPlugins = [
  'janus.plugin.videoroom',
  'janus.plugin.streaming',
] as const satisfies readonly JanusPlugin[]

const infoSchema = z.looseObject({
  janus: z.literal('server_info'),
  version_string: z.string(),
  plugins: z.record(z.string(), z.unknown()).default({}),
  dependencies: z.unknown().optional(),
  auth_token: z.boolean().default(false),
})

/**
 * Parses the answer to `info`, from the WebSocket or the Admin API. Returns undefined if it is not an answer of Janus.
 */
export function readServerInfo(answer: unknown): ServerInfo | undefined {
  const read = infoSchema.safeParse(answer)
  if (!read.success) return undefined
  const { version_string: version, plugins, dependencies, auth_token: asksForTokens } = read.data
  const packages = Object.keys(plugins)
  return {
    version,
    packages,
    plugins: packages.map(shortName).sort(),
    tellsDependencies: dependencies !== undefined,
    asksForTokens,
  }
}

export function shortName(plugin: string): string {
  return plugin.replace(/^janus\.plugin\./, '')
}
