import type { Logger } from 'pino'
import type { Settings } from '../../shared/settings.ts'
import type { RequestProof } from '../edge/request-proof.ts'
import type { SiteWatch } from '../event-log/watch-site.ts'
import type { MediaConfiguration } from '../nodes/embedded/embedded-media-options.ts'
import { EmbeddedNodes, type EmbeddedNodesOptions } from '../nodes/embedded/embedded-nodes.ts'
import type { LocalFfmpeg } from '../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import { mediaConfiguration } from '../nodes/embedded/media-configuration.ts'
import type { SpawnMediaProcess } from '../nodes/embedded/media-process.ts'
import type { RemovalsPort } from '../nodes/port/removals-port.ts'
import type { StoredNode } from '../store/records.ts'
import type { Store } from '../store/store.ts'

export interface MediaProgram {
  spawn: SpawnMediaProcess
  /** Folder of the built room page; empty: the page is not served. */
  pageFolder: string
  /** Path or name of ffmpeg; undefined: `ffmpeg` on the path. */
  ffmpeg?: string | undefined
  /** See EmbeddedMediaOptions. */
  hangsAfterMs?: number | undefined
}

export interface EmbeddedProgramsDependencies {
  store: Store
  settings: () => Settings
  logger: Logger
  removals: RemovalsPort
  /** Program of the media nodes; undefined: this machine has no nodes of kind `embedded`. */
  media?: MediaProgram | undefined
  ffmpeg: LocalFfmpeg
  /** Folder of recordings; undefined: recording is impossible. */
  recordingsFolder?: string | undefined
  /** See EmbeddedMediaOptions. */
  reached?: EmbeddedNodesOptions['reached']
  sitePorts?: (() => readonly number[]) | undefined
  /** Proof on requests forwarded by other controllers of the site; undefined: the only controller. */
  proof?: RequestProof | undefined
}

/** Composes the programs of a site's embedded nodes without starting them; undefined: this machine has none. */
export function embeddedPrograms(
  {
    media,
    ffmpeg,
    recordingsFolder,
    store,
    settings,
    logger,
    proof,
    removals,
    reached,
    sitePorts = () => [],
  }: EmbeddedProgramsDependencies,
  watch: SiteWatch,
  {
    nodesBeside,
    pageOrigins,
    leaseMs,
    ...visits
  }: Pick<EmbeddedNodesOptions, 'answers' | 'guessed' | 'gateway' | 'recorder' | 'waiting'> & {
    nodesBeside: (name: string) => string[]
    pageOrigins: () => string[]
    leaseMs: () => number
  },
): EmbeddedNodes | undefined {
  if (media === undefined) return undefined
  const configuration = (node: StoredNode): MediaConfiguration =>
    mediaConfiguration(store.get('nodes', node.name) ?? node, settings(), store, {
      sitePorts: [...new Set([...sitePorts(), ...nodes.furtherPorts])],
      otherNodes: nodesBeside(node.name),
      pageOrigins: pageOrigins(),
      leaseMs: leaseMs(),
      restartsAt: nodes.restartsAt,
    })
  const nodes: EmbeddedNodes = new EmbeddedNodes({
    ...media,
    recordingsFolder,
    ffmpeg,
    passedOn: proof && { key: proof.key, self: proof.self, tls: proof.tls },
    configuration,
    outgoing: () => Array.from(store.all('devices').values(), ({ userId, roomId }) => ({ userId, roomId })),
    removals,
    removed: ({ roomId, userId }, userName, by) => watch.hosts.removed(roomId, { userId, userName }, by),
    hostActed: (acted) => watch.hosts.acted(acted),
    failed: (node, why) => watch.nodeCrashed(node, why),
    ...visits,
    reached,
    logger,
    // Nodes must not connect to ports of the site, so each node receives a list of these ports.
    changed: () => nodes.configure(),
  })
  return nodes
}
