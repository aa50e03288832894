import type { OutgoingId } from '../../../shared/media/control.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { NodeConnectionError, type MediaNode } from '../port/media-node-port.ts'
import type { StoredNode } from '../../store/records.ts'
import type { ControlClient } from './control-client.ts'
import { EmbeddedMedia } from './embedded-media.ts'
import type { EmbeddedMediaOptions, MediaPlace } from './embedded-media-options.ts'
import type { RemovalsPort } from '../port/removals-port.ts'

/** Needs of the embedded nodes of a site. */
export interface EmbeddedNodesOptions extends Omit<EmbeddedMediaOptions, 'removals' | 'removed' | 'looksAtPort'> {
  /** Removals of the site. */
  removals: Pick<RemovalsPort, 'list' | 'note' | 'onRemoval'>
  /** Receives each removal. */
  removed: EmbeddedMediaOptions['removed']
  /** A further node began or ceased to listen, or may have. */
  changed?: () => void
}

/** Address of the further nodes; each has a port of its own. */
type Site = Omit<MediaPlace, 'port'>

/**
 * The embedded nodes of a site. One may be at the node port, which the controller opens. Each further one has a port and a process of its own, and shares only the removals with
 * the others.
 */
export class EmbeddedNodes {
  /** The one at the node port. */
  readonly first: EmbeddedMedia
  readonly #options: EmbeddedNodesOptions
  readonly #further = new Map<number, EmbeddedMedia>()
  #site: Site | undefined
  #restartsAt = 0

  constructor(options: EmbeddedNodesOptions) {
    this.#options = options
    this.first = this.#process(false)
    // The room may move to another process later. A process that misses this gets it at its next start.
    options.removals.onRemoval((removal, by) => {
      for (const media of this.#all()) if (media !== by) mustNotFail(media.noteRemoval(removal))
    })
  }

  /** A driver for this node. */
  driver(node: StoredNode): MediaNode {
    if (node.port === 0) return this.first.driver(node)
    return (this.#further.get(node.port) ?? this.#open(node.port)).driver(node)
  }

  /** Makes the further nodes listen at this address, each at its port; nodes at another address move. Resolves when that is under way. */
  async listenAt(site: Site): Promise<void> {
    const { host, tls } = site
    const before = this.#site
    this.#site = site
    if (before?.host === host && (before.tls === undefined) === (tls === undefined)) return
    for (const [port, media] of this.#further) this.#listen(media, port, this.#site)
  }

  /** New connections are given this certificate; those that are open go on. */
  async secure(tls: NonNullable<MediaPlace['tls']>): Promise<void> {
    if (this.#site?.tls === undefined) return
    this.#site = { ...this.#site, tls }
    await Promise.all(Array.from(this.#further.values(), (media) => media.secure(tls)))
  }

  /** Address at which a node listens; undefined while it does not. */
  placeOf(node: string): MediaPlace | undefined {
    return this.#processOf(node)?.place
  }

  /** Ports that the further nodes have, whether they listen now or not. */
  get furtherPorts(): number[] {
    return [...this.#further.keys()]
  }

  /** Names of the nodes that want a process. */
  get names(): string[] {
    return this.#all().flatMap(({ owner }) => (owner === undefined ? [] : [owner]))
  }

  /** The connection to the process of a node. @throws NodeConnectionError; the signal's reason */
  async client(node: string, signal: AbortSignal): Promise<ControlClient> {
    const media = this.#processOf(node)
    if (media === undefined) throw new NodeConnectionError('it does not run')
    return media.client(signal, node)
  }

  /** The connection to whichever process runs, the first node's before the others'. @throws NodeConnectionError of the last one; the signal's reason */
  async anyClient(signal: AbortSignal): Promise<ControlClient> {
    let failure = new NodeConnectionError('it does not run')
    for (const media of this.#all()) {
      if (media.owner === undefined) continue
      try {
        return await media.client(signal)
      } catch (error) {
        if (!(error instanceof NodeConnectionError)) throw error
        failure = error
      }
    }
    throw failure
  }

  /** An outgoing user was made, moved or deleted: every process reserves its id, for the room may come to any of them. */
  noteOutgoing(outgoing: OutgoingId): void {
    // A process that misses this gets it at its next start.
    for (const media of this.#all()) mustNotFail(media.noteOutgoing(outgoing))
  }

  /** Open connections of the further nodes that tell. */
  async furtherConnections(): Promise<number> {
    const counted = await Promise.allSettled(Array.from(this.#further.values(), (media) => media.connections()))
    return counted.reduce((sum, count) => sum + (count.status === 'fulfilled' ? count.value : 0), 0)
  }

  /** Announced restart of the controller, and of the nodes with it, in milliseconds since the epoch; 0: none. */
  get restartsAt(): number {
    return this.#restartsAt
  }

  /** Announces a restart to everybody in the rooms of all nodes; 0 withdraws it. */
  announceRestart(at: number): void {
    this.#restartsAt = at
    this.configure()
  }

  /** Sends changed settings and node addresses to the processes. */
  configure(): void {
    for (const media of this.#all()) media.configure()
  }

  #all(): EmbeddedMedia[] {
    return [this.first, ...this.#further.values()]
  }

  #processOf(node: string): EmbeddedMedia | undefined {
    return this.#all().find(({ owner }) => owner === node)
  }

  #open(port: number): EmbeddedMedia {
    const media = this.#process(true)
    this.#further.set(port, media)
    media.onChange(() => mustNotFail(this.#forgetUnwanted(port, media)))
    if (this.#site !== undefined) this.#listen(media, port, this.#site)
    return media
  }

  /** Nobody may want the process of a port any more: it goes once it has ended. */
  async #forgetUnwanted(port: number, media: EmbeddedMedia): Promise<void> {
    await media.settled()
    if (media.owner === undefined && this.#further.get(port) === media) this.#further.delete(port)
    this.#options.changed?.()
  }

  #listen(media: EmbeddedMedia, port: number, site: Site): void {
    // A failed start was logged, and shows at the node.
    media
      .listen({ ...site, port })
      .catch(() => {})
      .finally(() => this.#options.changed?.())
  }

  #process(looksAtPort: boolean): EmbeddedMedia {
    const media: EmbeddedMedia = new EmbeddedMedia({
      ...this.#options,
      looksAtPort,
      removals: () => this.#options.removals.list(),
      removed: (removal, ...who) => {
        // In the background: the process knows it already.
        mustNotFail(this.#options.removals.note(removal, media))
        this.#options.removed(removal, ...who)
      },
    })
    return media
  }
}
