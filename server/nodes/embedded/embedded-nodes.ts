import type { OutgoingId } from '../../../shared/media/control.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { NodeConnectionError, type MediaNode } from '../port/media-node-port.ts'
import type { StoredNode } from '../../store/records.ts'
import type { MediaRequests } from './control-client.ts'
import { EmbeddedMedia } from './embedded-media.ts'
import type { EmbeddedMediaOptions, MediaPlace } from './embedded-media-options.ts'
import type { RemovalsPort } from '../port/removals-port.ts'

export interface EmbeddedNodesOptions extends Omit<EmbeddedMediaOptions, 'removals' | 'removed' | 'looksAtPort'> {
  removals: Pick<RemovalsPort, 'list' | 'note' | 'onRemoval'>
  removed: EmbeddedMediaOptions['removed']
  /** Called when a further node may have started or stopped listening. */
  changed?: () => void
}

/** Address of the further nodes, each of which has a different port. */
type Site = Omit<MediaPlace, 'port'>

/**
 * The embedded nodes of a site. One of them may use the node port, which the controller opens. Each further node has a
 * separate port and process. The nodes share only the removals.
 */
export class EmbeddedNodes {
  /** The process at the node port. */
  readonly first: EmbeddedMedia
  readonly #options: EmbeddedNodesOptions
  readonly #further = new Map<number, EmbeddedMedia>()
  #site: Site | undefined
  #restartsAt = 0

  constructor(options: EmbeddedNodesOptions) {
    this.#options = options
    this.first = this.#process(false)
    // The room may move to another process later. A process that misses this message gets the removal at its next
    // start.
    options.removals.onRemoval((removal, by) => {
      for (const media of this.#all()) if (media !== by) mustNotFail(media.noteRemoval(removal))
    })
  }

  driver(node: StoredNode): MediaNode {
    if (node.port === 0) return this.first.driver(node)
    return (this.#further.get(node.port) ?? this.#open(node.port)).driver(node)
  }

  /** Sets the address of the further nodes, each with its own port. Running nodes move there in the background. */
  async listenAt(site: Site): Promise<void> {
    const { host, tls } = site
    const before = this.#site
    this.#site = site
    if (before?.host === host && (before.tls === undefined) === (tls === undefined)) return
    for (const [port, media] of this.#further) this.#listen(media, port, this.#site)
  }

  /** Sets the certificate for new connections. Open connections are not affected. */
  async secure(tls: NonNullable<MediaPlace['tls']>): Promise<void> {
    if (this.#site?.tls === undefined) return
    this.#site = { ...this.#site, tls }
    await Promise.all(Array.from(this.#further.values(), (media) => media.secure(tls)))
  }

  /** Returns the address on which a node listens; undefined while it does not listen. */
  placeOf(node: string): MediaPlace | undefined {
    return this.#processOf(node)?.place
  }

  /** Ports of the further nodes, whether they listen now or not. */
  get furtherPorts(): number[] {
    return [...this.#further.keys()]
  }

  /** Names of the nodes that need a process. */
  get names(): string[] {
    return this.#all().flatMap(({ owner }) => (owner === undefined ? [] : [owner]))
  }

  /**
   * Returns the connection to the process of a node.
   * @throws NodeConnectionError; the signal's reason
   */
  async client(node: string, signal: AbortSignal): Promise<MediaRequests> {
    const media = this.#processOf(node)
    if (media === undefined) throw new NodeConnectionError('it does not run')
    return media.client(signal, node)
  }

  /**
   * Returns the connection to any running process, preferably that of the first node.
   * @throws NodeConnectionError of the last process tried; the signal's reason
   */
  async anyClient(signal: AbortSignal): Promise<MediaRequests> {
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

  /**
   * Notifies all processes that a device was created, moved or deleted. Every process reserves the device's id, because
   * the device's room may be placed on any node.
   */
  noteOutgoing(outgoing: OutgoingId): void {
    // A process that misses this message gets the id at its next start.
    for (const media of this.#all()) mustNotFail(media.noteOutgoing(outgoing))
  }

  /** Returns the number of open connections of the further nodes that answer. */
  async furtherConnections(): Promise<number> {
    const counted = await Promise.allSettled(Array.from(this.#further.values(), (media) => media.connections()))
    return counted.reduce((sum, count) => sum + (count.status === 'fulfilled' ? count.value : 0), 0)
  }

  /** Announced time of a restart of the controller and its nodes, in milliseconds since the epoch; 0: none. */
  get restartsAt(): number {
    return this.#restartsAt
  }

  /** Announces a restart to everyone in the rooms of all nodes; 0 withdraws it. */
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

  /** Removes the process of a port when it has ended and no node needs it. */
  async #forgetUnwanted(port: number, media: EmbeddedMedia): Promise<void> {
    await media.settled()
    if (media.owner === undefined && this.#further.get(port) === media) this.#further.delete(port)
    this.#options.changed?.()
  }

  #listen(media: EmbeddedMedia, port: number, site: Site): void {
    // A failed start was logged, and is shown in the node's state.
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
        // Runs in the background, because the reporting process has already applied the removal.
        mustNotFail(this.#options.removals.note(removal, media))
        this.#options.removed(removal, ...who)
      },
    })
    return media
  }
}
