import type { Logger } from 'pino'
import type { Settings } from '../../shared/settings.ts'
import type { RequestProof } from '../edge/request-proof.ts'
import type { SiteWatch } from '../event-log/watch-site.ts'
import type { MediaConfiguration } from '../nodes/embedded/embedded-media-options.ts'
import { EmbeddedNodes, type EmbeddedNodesOptions } from '../nodes/embedded/embedded-nodes.ts'
import type { LocalFfmpeg } from '../nodes/embedded/ffmpeg/local-ffmpeg.ts'
import { mediaConfiguration } from '../nodes/embedded/media-configuration.ts'
import type { SpawnMediaProcess } from '../nodes/embedded/media-process.ts'
import type { RemovalsPort } from '../nodes/port/removals-port.ts'
import type { StoredNode } from '../store/records.ts'
import type { Store } from '../store/store.ts'

/** The program of the embedded node. */
export interface MediaProgram {
  spawn: SpawnMediaProcess
  /** Folder of the built room page; empty: none is served. */
  pageFolder: string
  /** Path or name of ffmpeg; left out: the one on the path. */
  ffmpeg?: string | undefined
  /** See EmbeddedMediaOptions. */
  hangsAfterMs?: number | undefined
}

/** Needs of the processes of the embedded nodes. */
export interface EmbeddedProgramsParts {
  store: Store
  settings: () => Settings
  logger: Logger
  removals: RemovalsPort
  /** Left out: no node of kind `embedded` works here. */
  media?: MediaProgram | undefined
  /** The ffmpeg of this machine. */
  ffmpeg: LocalFfmpeg
  /** Folder of recordings; left out: nothing can be recorded. */
  recordingsFolder?: string | undefined
  /** See EmbeddedMediaOptions. */
  reached?: EmbeddedNodesOptions['reached']
  /** Ports at which this controller listens. */
  sitePorts?: (() => readonly number[]) | undefined
  /** Proof on requests that other controllers of the site pass on; left out: this controller is alone. */
  proof?: RequestProof | undefined
}

/** The processes of the embedded nodes of a site; nothing runs yet. Undefined where none works. */
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
  }: EmbeddedProgramsParts,
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
    // A node calls none of the site's ports, so each node has to know which they are.
    changed: () => nodes.configure(),
  })
  return nodes
}
